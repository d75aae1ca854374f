from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        return F.contrib.cond(F.sum(x) > F.sum(y), lambda: x * 2, lambda: y)
