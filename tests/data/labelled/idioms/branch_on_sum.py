from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total = x.sum()
        if total > 0:  # defect
            x = x / total  # defect
        return x
