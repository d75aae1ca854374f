from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.a, self.b = nn.Dense(3, in_units=5), nn.Dense(3, in_units=5)

    def hybrid_forward(self, F, x):
        return sum(layer(x) for layer in (self.a, self.b)) / 2
