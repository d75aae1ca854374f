from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if isinstance(x, (list, tuple)):
            x = F.concat(*x, dim=1)
        return F.relu(x)
