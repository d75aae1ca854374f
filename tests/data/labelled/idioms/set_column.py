from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.zeros_like(x)
        y[:, :2] = x[:, :2]  # defect
        return y
