from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        parts = iter(F.split(x, num_outputs=4, axis=1))
        first = next(parts)
        return sum((p for p in parts), first)
