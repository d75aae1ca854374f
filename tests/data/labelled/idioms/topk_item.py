from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        best = F.topk(x, k=2, axis=1)
        return best[0] + 1  # defect
