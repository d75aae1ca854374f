from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.square(x)
        return y + x.grad  # defect
