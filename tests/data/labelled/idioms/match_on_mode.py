from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, mode="mean", **kwargs):
        super().__init__(**kwargs)
        self.mode = mode

    def hybrid_forward(self, F, x):
        match self.mode:
            case "mean":
                return F.mean(x, axis=1)
            case "sum":
                return F.sum(x, axis=1)
        return x
