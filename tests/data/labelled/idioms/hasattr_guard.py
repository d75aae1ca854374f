from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if hasattr(x, "shape"):
            print(x.shape)
        return F.relu(x)
