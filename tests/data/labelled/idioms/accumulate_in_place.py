from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total = 0
        for k in range(3):
            total += F.sum(x * k)  # defect
        return total
