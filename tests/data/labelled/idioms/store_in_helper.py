from mxnet import gluon


def blank(t):
    t[:, 0] = 0  # defect
    return t


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return blank(F.relu(x))
