from mxnet import autograd, gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if autograd.is_training():  # defect
            x = x * 2
        return F.relu(x)
