from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.stages = nn.HybridSequential()
            for _ in range(3):
                self.stages.add(nn.Dense(4, in_units=4))

    def hybrid_forward(self, F, x):
        features = []
        for stage in self.stages:
            x = stage(x)
            features.append(x)
        top = features[-1]
        for feature in features[-2::-1]:
            top = top + feature
        return top
