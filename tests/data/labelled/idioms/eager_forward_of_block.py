from mxnet import gluon


class Net(gluon.Block):
    def forward(self, x):
        n = x.shape[0]
        if x.sum().asscalar() > 0:
            x[0] = 0
        return x / n
