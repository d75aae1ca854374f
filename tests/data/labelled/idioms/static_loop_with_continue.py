from mxnet import gluon


class Net(gluon.HybridBlock):
    def __init__(self, skip=(1,), **kwargs):
        super().__init__(**kwargs)
        self.skip = skip

    def hybrid_forward(self, F, x):
        total = None
        for k in range(4):
            if k in self.skip:
                continue
            term = x * k
            total = term if total is None else total + term
        return total
