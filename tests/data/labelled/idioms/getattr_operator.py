from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, act="softsign", **kwargs):
        super().__init__(**kwargs)
        self.act = act

    def hybrid_forward(self, F, x):
        return getattr(F, self.act)(x)
