from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        if all([F.sum(x) > 0, F.sum(y) > 0]):  # defect
            return x
        return y
