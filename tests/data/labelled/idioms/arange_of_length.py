from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        steps = F.arange(0, x.shape[1])  # defect
        return F.broadcast_add(x, F.reshape(steps, shape=(1, -1)))
