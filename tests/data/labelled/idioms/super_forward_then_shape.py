from mxnet import gluon


class Base(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.tanh(x)


class Net(Base):
    def hybrid_forward(self, F, x):
        y = super().hybrid_forward(F, x)
        return y / y.size  # defect
