from mxnet import gluon
from mxnet.gluon import nn


def halve(F, x):
    if x.sum() > 1:  # defect
        return x / 2
    return x


GATE = nn.HybridLambda(
    halve
)


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gate = GATE

    def hybrid_forward(self, F, x):
        return self.gate(x)
