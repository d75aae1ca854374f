"""Blocks with dtypes, captured values, scopes, attributes and children: hybridized, each gives what it gives.

The blocks are compared as in `test_kinds_of_code.py`.
"""

from __future__ import annotations

import collections
import copy
from typing import Any

import numpy as np
import pytest
from transform.same_outcome import assert_same_outcome, collector

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import HybridBlock, nn, rnn

CASES: list[Any] = []
case = collector(CASES)


@case()
class DtCast(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x.astype("float64") if x.dtype == np.float32 else x
        return (y * 2).astype(x.dtype)


@case()
class DtInt(HybridBlock):
    def hybrid_forward(self, F, x):
        i = x.astype("int32")
        return (i / 2).astype("float32") + (i % 3).astype("float32") + F.one_hot(i[:, 0], 4).sum()


@case()
class DtStr(HybridBlock):
    def hybrid_forward(self, F, x):
        return x + F.ones((1,), dtype=np.dtype(x.dtype).name) if str(x.dtype) != "float16" else x


@case()
class FoNd(HybridBlock):
    def hybrid_forward(self, F, x):
        return mx.nd.dot(x, nd.ones((x.shape[1], 2))) + nd.array([[1, 2]])


@case()
class FoNpConst(HybridBlock):
    def hybrid_forward(self, F, x):
        return x * float(np.pi) + nd.array(np.eye(3)[:1]) + np.float32(2)


@case()
class FoClosure(HybridBlock):
    def hybrid_forward(self, F, x):
        w = nd.array([1.0, 2, 3])

        def f(v):
            return v * w

        return f(x) + f(x + 1)


@case()
class FoDeepcopy(HybridBlock):
    def hybrid_forward(self, F, x):
        y = copy.copy([x, x * 2])
        return y[0] + y[1]


@case()
class FoNamed(HybridBlock):
    P = collections.namedtuple("P", "a b")

    def hybrid_forward(self, F, x):
        p = self.P(x, x * 2)
        if x.sum() > 0:
            p = p._replace(a=x * 5)
        return [p.a, p.b]


@case()
class AgPause(HybridBlock):
    def hybrid_forward(self, F, x):
        with autograd.pause():
            m = x.mean()
        return (x - m) * x.detach() + (1 if autograd.is_training() else 2)


@case()
class AgStop(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.BlockGrad(x * 2) * x + (x * 1).detach() * 2 + F.stop_gradient(x)


@case()
class AgTrain(HybridBlock):
    def __init__(self):
        super().__init__()
        self.d = nn.Dropout(0.5)

    def hybrid_forward(self, F, x):
        with autograd.predict_mode():
            a = self.d(x)
        with autograd.train_mode():
            b = F.Dropout(x * 0, p=0.3)
        return a + b


@case(((2, 3), (2, 3)), ((4, 3), (4, 3)))
class StDict(HybridBlock):
    def hybrid_forward(self, F, x, y):
        return {"s": x + y, "l": [x, {"d": y * 2}], "n": None, "k": 3}


@case(((2, 3), (2, 3)), ((2, 3),))
class StOpt(HybridBlock):
    def hybrid_forward(self, F, x, y=None):
        return x * 2 if y is None else (x, y)


@case(((2, 3), (2, 3)), ((4, 3), (4, 3), (4, 3)))
class StVar(HybridBlock):
    def hybrid_forward(self, F, x, *more):
        return [m + x for m in more]


@case()
class HvItem(HybridBlock):
    def hybrid_forward(self, F, x):
        s = x.sum().asscalar()
        if s > 0:
            return x / s
        return x * s + 1


@case()
class HvFloat(HybridBlock):
    def hybrid_forward(self, F, x):
        return x * x.max().asscalar() ** 2


@case()
class AtNdim(HybridBlock):
    def hybrid_forward(self, F, x):
        return x.T.T + x.ndim + x.size + (x.stype == "default")


@case()
class AtMethods(HybridBlock):
    def hybrid_forward(self, F, x):
        return (
            x.abs().clip(0, 1).sum(axis=-1).sqrt().expand_dims(1).tile((1, 2)).flip(axis=1).transpose().norm(axis=0)
            + x.prod()
            + x.argmax(axis=1).sum()
        )


@case()
class AtCopyto(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x.copy()
        z = nd.zeros(x.shape)
        return y.as_in_context(x.context).reshape((-1,)).slice(begin=(0,), end=(2,)) + z.sum()


@case()
class AtSetProp(HybridBlock):
    @property
    def scale(self):
        return 3 if self._flag else 2

    def __init__(self):
        super().__init__()
        self._flag = True

    def hybrid_forward(self, F, x):
        return x * self.scale


@case()
class AtBranchState(HybridBlock):
    def __init__(self):
        super().__init__()
        self.best = None

    def hybrid_forward(self, F, x):
        if self.best is None:
            self.best = x.mean()
        else:
            self.best = F.broadcast_maximum(self.best, x.mean())
        return x + self.best


@case()
class AtTupleState(HybridBlock):
    def __init__(self):
        super().__init__()
        self.h = [0, 0]

    def hybrid_forward(self, F, x):
        self.h = [self.h[0] + x.sum(), self.h[1] + 1]
        return x + self.h[0] * self.h[1]


class Gate(HybridBlock):
    def hybrid_forward(self, F, x, y):
        return F.where(x > y, x, y), x


@case()
class ChTuple(HybridBlock):
    def __init__(self):
        super().__init__()
        self.g = Gate()
        self.seq = nn.HybridSequential()
        self.seq.add(nn.Dense(3, in_units=3, flatten=False), nn.LeakyReLU(0.1))

    def hybrid_forward(self, F, x):
        a, b = self.g(x, self.seq(x))
        for layer in self.seq:
            a = layer(a)
        return self.seq[0](a) + b * len(self.seq)


@case(((3, 2, 4),), ((5, 2, 4),))
class ChRnn(HybridBlock):
    def __init__(self):
        super().__init__()
        self.l = rnn.LSTM(3, input_size=4)
        self.c = rnn.GRUCell(3, input_size=4)

    def hybrid_forward(self, F, x):
        o, s = self.l(x, self.l.begin_state(batch_size=2))
        h = self.c.begin_state(2)
        for t in range(x.shape[0]):
            y, h = self.c(x[t], h)
        return o[-1] + y + s[0][0]


@case()
class ChShared(HybridBlock):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(3, in_units=3)
        self.b = nn.Dense(3, in_units=3, params=self.a.params)
        self.layers = [self.a, self.b]
        self.reg = {"x": self.a}
        self.w = self.params.get("w", shape=(3,), init="ones")

    def hybrid_forward(self, F, x, w):
        for l in self.layers:
            x = l(x)
        return self.reg["x"](x) * w + self.w.data()


@pytest.mark.parametrize(("block", "calls", "record"), CASES)
def test_block_with_state_gives_what_it_gives_imperatively(block: Any, calls: Any, record: bool) -> None:
    assert_same_outcome(block, calls, record)
