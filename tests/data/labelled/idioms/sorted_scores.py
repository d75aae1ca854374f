from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        parts = F.split(F.sum(x, axis=0), num_outputs=4, axis=0)
        best = sorted(parts, key=lambda p: p.max())[0]  # defect
        return x * 2 + F.sum(best)
