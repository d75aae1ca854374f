from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        return F.relu(x).astype(y.dtype) * y  # defect
