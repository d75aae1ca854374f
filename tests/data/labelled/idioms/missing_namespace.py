from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, x):  # defect
        return x * 2
