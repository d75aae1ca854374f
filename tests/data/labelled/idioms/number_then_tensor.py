from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        scale = 1.0
        for step in range(2):
            if scale > 2:  # defect
                break
            scale = F.sum(x)
        return F.broadcast_mul(x, scale)
