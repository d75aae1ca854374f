from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        assert x.shape[1] % 2 == 0, "even"  # defect
        return x * 2
