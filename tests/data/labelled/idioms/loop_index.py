from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        outs = []
        for t in range(3):
            outs.append(F.tanh(x[t]))  # defect
        return F.stack(*outs)
