import math

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x / math.sqrt(F.sum(x * x))  # defect
