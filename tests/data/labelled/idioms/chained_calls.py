from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return x.transpose((1, 0)).expand_dims(0).squeeze(0).flatten().sum(axis=1).sigmoid()
