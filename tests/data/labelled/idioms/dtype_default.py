from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, dtype="float32", **kwargs):
        super().__init__(**kwargs)
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        return F.cast(x, dtype=self._dtype) * 2
