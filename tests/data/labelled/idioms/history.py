from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.history = []

    def hybrid_forward(self, F, x):
        y = F.tanh(x)
        self.history.append(y)  # defect
        return y
