from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.norm = lambda t: t / t.max().asscalar()  # defect

    def hybrid_forward(self, F, x):
        return self.norm(F.abs(x))
