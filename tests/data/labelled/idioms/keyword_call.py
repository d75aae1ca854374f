from mxnet import gluon


class Inner(gluon.HybridBlock):
    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(x, scale)


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Inner()

    def hybrid_forward(self, F, x, y):
        return self.inner(x, scale=y)  # defect
