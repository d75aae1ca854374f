from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, lengths):
        if not lengths.max() > 1:  # defect
            return x
        return F.broadcast_div(x, F.reshape(lengths, shape=(-1, 1)))
