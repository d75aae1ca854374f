from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        total = x
        for step in range(3):
            if step > 0:
                total = total * previous.shape[0]  # defect
            previous = F.relu(x)
        return total
