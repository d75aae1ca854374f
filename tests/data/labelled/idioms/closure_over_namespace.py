from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        def centre(t, axis):
            mean = F.mean(t, axis=axis, keepdims=True)
            return F.broadcast_sub(t, mean) / t.shape[axis]  # defect
        return centre(x, 1)
