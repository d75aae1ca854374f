from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        values = x.asnumpy().tolist()  # defect
        return x * sum(values[0])
