from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        while F.norm(x) > 1:  # defect
            x = x * 0.5
        return x
