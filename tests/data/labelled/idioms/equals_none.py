from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, weight=None):
        if weight == None:  # defect
            return x
        return x * weight
