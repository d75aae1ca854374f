from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total = F.sum(x)
        return x if total > 1 else -x  # defect
