from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        parts = [F.sum(x), F.max(x)]
        parts.sort()  # defect
        return parts[0] + F.min(parts[1])
