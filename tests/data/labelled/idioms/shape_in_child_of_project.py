from mxnet import gluon


class Inner(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x / x.shape[0]  # defect


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Inner()

    def hybrid_forward(self, F, x):
        return self.inner(F.relu(x))
