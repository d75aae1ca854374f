from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.relu(x)
        y.wait_to_read()  # defect
        return y
