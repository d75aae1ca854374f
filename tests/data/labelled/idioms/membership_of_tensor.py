from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        if y in [x, F.tanh(x)]:  # defect
            return x
        return y
