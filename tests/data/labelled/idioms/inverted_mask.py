from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        keep = x > 0.5
        return x * (1 - keep) + x * ~keep  # defect
