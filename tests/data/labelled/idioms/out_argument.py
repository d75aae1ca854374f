from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        F.broadcast_add(y, x, out=y)  # defect
        return y
