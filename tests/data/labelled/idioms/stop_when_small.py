from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        for _ in range(4):
            x = x / 2
            if F.max(x) < 0.1:  # defect
                break
        return x
