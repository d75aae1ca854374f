from mxnet import gluon


TABLE = {}


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        y = F.softmax(x)
        TABLE["last"] = y  # defect
        return y
