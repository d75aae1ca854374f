from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        mask = F.ones((1, 4), ctx=x.context)  # defect
        return F.broadcast_mul(x, mask)
