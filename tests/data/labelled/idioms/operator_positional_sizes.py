from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        b, c = x.shape  # defect
        return F.reshape(x, (b, c // 2, 2))
