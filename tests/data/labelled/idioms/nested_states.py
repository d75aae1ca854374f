from mxnet import gluon
from mxnet.gluon import nn


class Net(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.cell = gluon.rnn.LSTMCell(4, input_size=3)

    def hybrid_forward(self, F, x, h, c):
        out, states = self.cell(x, [h, c])
        return out + states[0] - states[-1]
