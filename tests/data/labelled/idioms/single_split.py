from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, groups=1, **kwargs):
        super().__init__(**kwargs)
        self.groups = groups

    def hybrid_forward(self, F, x):
        parts = F.split(x, num_outputs=self.groups, axis=1)
        return parts[0] * 2  # defect
