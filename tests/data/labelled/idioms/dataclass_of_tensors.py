import dataclasses

from mxnet import gluon


@dataclasses.dataclass
class Pair:
    left: object
    right: object


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F, x, y):
        pair = Pair(F.exp(x), right=y)
        return pair.left * pair.right.shape[1]  # defect
