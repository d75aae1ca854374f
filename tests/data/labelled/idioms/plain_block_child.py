from mxnet import gluon


class Gate(gluon.Block):
    def forward(self, x):
        return x * 2


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.gate = Gate()  # defect

    def hybrid_forward(self, F, x):
        return self.gate(x)
