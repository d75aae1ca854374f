import random

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        noise = F.random.normal_like(x)
        return x + noise * 0
