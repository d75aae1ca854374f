from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total, count = 0, 0
        for k in range(3):
            total = total + F.sum(x * k)
            count += 1
        return total / count
