from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, depth=3, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth
        with self.name_scope():
            for i in range(depth):
                setattr(self, "layer%d" % i, nn.Dense(4, flatten=False))

    def hybrid_forward(self, F, x):
        outs = []
        for i in range(self.depth):
            x = getattr(self, "layer%d" % i)(x)
            outs.append(x)
        return F.add_n(*outs) if len(outs) > 1 else outs[0]
