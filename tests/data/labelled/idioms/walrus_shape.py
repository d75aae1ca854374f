from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if (width := x.shape[1]) > 2:  # defect
            x = x / width
        return x
