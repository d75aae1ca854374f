from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        shifted = F.broadcast_sub(x, F.max(x, axis=1, keepdims=True))
        e = F.exp(shifted)
        return F.broadcast_div(e, F.sum(e, axis=1, keepdims=True))
