from mxnet import gluon
from mxnet.gluon import nn


def make_gate():
    return nn.HybridLambda(lambda F, x: x / x.shape[0])  # defect


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gate = make_gate()

    def hybrid_forward(self, F, x):
        return self.gate(x)
