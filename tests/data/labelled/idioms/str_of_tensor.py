from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        dtype = str(x.dtype)  # defect
        return x.astype("float32") if "16" in dtype else x * 2
