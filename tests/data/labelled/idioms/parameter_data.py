from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(5,))

    def hybrid_forward(self, F, x, weight):
        return F.broadcast_mul(x, self.weight.data())  # defect
