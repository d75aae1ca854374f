from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        steps = F.contrib.arange_like(x, axis=1)
        return F.broadcast_add(x, F.reshape(steps, shape=(1, -1)))
