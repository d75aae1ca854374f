from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        return F.stack(*[a * b for a, b in zip(F.relu(x), F.relu(y))])  # defect
