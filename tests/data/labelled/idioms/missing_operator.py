from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.array([1.0, 2.0, 3.0, 4.0]) * x  # defect
