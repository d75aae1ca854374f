from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total = 0
        for place, row in enumerate(x):  # defect
            total = total + row * place
        return total
