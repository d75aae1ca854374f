from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, weight=None):
        weight = weight or F.ones_like(x)  # defect
        return x * weight
