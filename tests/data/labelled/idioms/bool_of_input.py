from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, gate):
        return x * bool(F.sum(gate))  # defect
