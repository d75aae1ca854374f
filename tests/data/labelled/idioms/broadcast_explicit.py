from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        mean = F.mean(x, axis=1, keepdims=True)
        return F.broadcast_sub(x, mean)
