from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x.reshape(-1, 2, 2)  # defect
