from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        try:
            width = x.shape[1]  # defect
        except Exception:
            width = 1
        return x * width
