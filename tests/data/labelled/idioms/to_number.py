from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        peak = float(F.max(x))  # defect
        return x / peak
