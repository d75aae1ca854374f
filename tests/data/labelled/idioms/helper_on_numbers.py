from mxnet import gluon


def scale_of(sizes):
    total = 1
    for size in sizes:
        total *= size
    return 1.0 / total


class Net(gluon.HybridBlock):
    def __init__(self, sizes=(2, 4), **kwargs):
        super().__init__(**kwargs)
        self.sizes = sizes

    def hybrid_forward(self, F, x):
        return x * scale_of(self.sizes)
