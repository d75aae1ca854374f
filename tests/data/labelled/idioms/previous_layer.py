from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.body = nn.HybridSequential()
        for step in range(2):
            if step > 0:
                self.body.add(previous)  # defect
            previous = nn.Sequential()

    def hybrid_forward(self, F, x):
        return self.body(x)
