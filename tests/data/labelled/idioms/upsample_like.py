from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        h, w = y.shape[2:]  # defect
        return F.contrib.BilinearResize2D(x, height=h, width=w)
