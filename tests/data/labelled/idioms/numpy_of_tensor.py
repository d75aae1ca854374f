import numpy as np
from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        weight = np.exp(x.asnumpy())  # defect
        return x * F.array(weight)  # defect
