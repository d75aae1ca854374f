import logging

from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        logging.info("forward %s", x)  # defect
        return F.relu(x)
