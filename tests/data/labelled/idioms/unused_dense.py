from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.used = nn.Dense(3)
            self.spare = nn.Dense(3)  # defect

    def hybrid_forward(self, F, x):
        return self.used(x)
