import functools

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        squash = functools.partial(F.clip, a_min=-0.5, a_max=0.5)
        return squash(x) + squash(x * 2)
