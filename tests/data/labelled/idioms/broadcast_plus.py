from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.shift = self.params.get("shift", shape=(1, 4))

    def hybrid_forward(self, F, x, shift):
        return x + shift  # defect
