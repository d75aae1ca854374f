from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        inside = (x > 0.2) & (x < 0.8)  # defect
        return x * inside
