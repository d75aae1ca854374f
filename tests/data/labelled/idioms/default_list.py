from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, seen=[]):
        seen.append(1)  # defect
        return x * len(seen)
