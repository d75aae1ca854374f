from mxnet import gluon


def peak(t):
    return t.max().asscalar()  # defect


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x / peak(F.abs(x))
