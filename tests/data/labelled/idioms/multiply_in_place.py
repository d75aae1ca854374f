from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        outs = []
        for scale in (0.5, 2.0):
            y = F.tanh(x)
            y *= scale  # defect
            outs.append(y)
        return F.concat(*outs, dim=1)
