from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.scales = [1.0, 2.0, 3.0, 4.0]

    def hybrid_forward(self, F, x):
        best = int(F.argmax(x, axis=0).asscalar())  # defect
        return x * self.scales[best]
