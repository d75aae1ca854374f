import mxnet as mx
from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if F is mx.nd:
            assert x.shape[1] == 3, x.shape
        return F.relu(x)
