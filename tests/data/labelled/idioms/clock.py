import time

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        started = time.time()  # defect
        return x * (started - started)
