from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.gain = self.params.get("gain", shape=(5,))

    def hybrid_forward(self, F, x):  # defect
        return F.relu(x)
