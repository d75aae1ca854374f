from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        mean, deviation = F.relu(x)  # defect
        return mean * deviation
