from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, index):
        hot = F.one_hot(index, depth=4, dtype=x.dtype)  # defect
        return x * hot
