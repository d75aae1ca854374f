from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.head = slice(0, 2)

    def hybrid_forward(self, F, x):
        return F.relu(x)[self.head]  # defect
