from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        both = F.max(x) > 0 and F.max(y) > 0  # defect
        return F.where(both, x, y)
