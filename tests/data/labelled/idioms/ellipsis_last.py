from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.tanh(x)
        return y[..., 0]  # defect
