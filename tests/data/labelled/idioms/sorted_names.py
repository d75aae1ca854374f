from mxnet import gluon


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        parts = [("b", F.relu(x)), ("a", F.tanh(x))]
        ordered = sorted(parts, key=lambda pair: pair[0])
        best = max([(1, x), (2, x * 2)], key=lambda pair: pair[0])
        return ordered[0][1] + best[1]
