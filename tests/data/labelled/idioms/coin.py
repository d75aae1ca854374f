import random

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        if random.random() < 0.5:  # defect
            return F.relu(x)
        return F.tanh(x)
