from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.add(x, x) + F.logical_and(x, x)  # defect
