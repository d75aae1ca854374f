from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.heads = {}
        with self.name_scope():
            for name in ("a", "b"):
                head = nn.Dense(2, in_units=4)
                self.register_child(head)
                self.heads[name] = head

    def hybrid_forward(self, F, x):
        return F.concat(*[self.heads[name](x) for name in sorted(self.heads)], dim=1)
