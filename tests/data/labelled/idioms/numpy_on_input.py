import numpy as np
from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.relu(x) * np.prod((2, 3)) + np.sqrt(2.0)
