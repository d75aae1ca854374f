from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        name = f"relu_{x.shape[0]}"  # defect
        return F.relu(x, name=name)
