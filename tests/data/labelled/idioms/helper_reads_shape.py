from mxnet import gluon


def flatten_tail(t):
    n = t.shape[0]  # defect
    return t.reshape((n, -1))


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return flatten_tail(F.relu(x)) * 2
