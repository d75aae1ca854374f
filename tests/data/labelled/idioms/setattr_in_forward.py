from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        setattr(self, "last", F.relu(x))  # defect
        return x * 2
