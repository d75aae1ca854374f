"""Blocks of every kind of code that hybridize() meets in practice: each gives what it gives imperatively.

Every block is called with several shapes, twice each, with and without recording; results, their structure, arguments
that it wrote into, and the gradients of arguments and parameters are compared.
"""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
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
class IdxNeg(HybridBlock):
    def hybrid_forward(self, F, x):
        return x[-1] + x[:, -2].sum() + x[..., 0].max()


@case()
class IdxNone(HybridBlock):
    def hybrid_forward(self, F, x):
        return x[None, :, None, ::2] * 2


@case()
class IdxArr(HybridBlock):
    def hybrid_forward(self, F, x):
        i = F.argmax(x, axis=1)
        return x[nd.arange(x.shape[0]), i] + F.pick(x, i)


@case()
class IdxList(HybridBlock):
    def hybrid_forward(self, F, x):
        return x[[1, 0]] - x[:, [0, 2, 2]][0:2]


@case()
class IdxBoolMask(HybridBlock):
    def hybrid_forward(self, F, x):
        m = x > 0
        y = x * 1
        return F.where(m, y, -y) * m


@case()
class IdxLoopRows(HybridBlock):
    def hybrid_forward(self, F, x):
        out = []
        for i in range(x.shape[0]):
            out.append(x[i] * i)
        return F.stack(*out, axis=0)


@case()
class IdxReversed(HybridBlock):
    def hybrid_forward(self, F, x):
        rows = list(x)
        return F.stack(*rows[::-1]) + F.stack(*reversed(rows))


@case()
class IdxTupleUnpack(HybridBlock):
    def hybrid_forward(self, F, x):
        a, b, *rest = F.split(x, 3, axis=1)
        return a + b + sum(rest)


@case()
class IdxSliceObj(HybridBlock):
    def hybrid_forward(self, F, x):
        s = slice(None, None, 2)
        e = Ellipsis
        return x[:, s] + x[e, 0:1]


@case()
class Take(HybridBlock):
    def hybrid_forward(self, F, x):
        return x.take(nd.array([0, 1]), axis=1) * x.slice_axis(axis=1, begin=0, end=2)


@case()
class ShTuple(HybridBlock):
    def hybrid_forward(self, F, x):
        n, c = x.shape[:2]
        return F.broadcast_to(x.mean(axis=1, keepdims=True), (n, c + 1)) / math.sqrt(c)


@case()
class ShCond(HybridBlock):
    def hybrid_forward(self, F, x):
        if x.shape[0] > 2 and x.ndim == 2:
            return x.sum(axis=0)
        return x.reshape(-1)


@case()
class ShHelper(HybridBlock):
    def pad(self, x, to):
        return nd.concat(x, nd.zeros((to - x.shape[0], x.shape[1]), ctx=x.context, dtype=x.dtype), dim=0)

    def hybrid_forward(self, F, x):
        return self.pad(x, 5)


@case()
class ShLen(HybridBlock):
    def hybrid_forward(self, F, x):
        return sum(x[i] for i in range(len(x))) / len(x)


@case()
class ShReshapeLike(HybridBlock):
    def hybrid_forward(self, F, x):
        return x.reshape(x.shape[::-1]).reshape_like(x) + F.arange(x.size).reshape(x.shape)


@case()
class ShAttr(HybridBlock):
    def hybrid_forward(self, F, x):
        self.last_shape = x.shape
        return x * len(self.last_shape)


@case(record=False)
class AsMask(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x.copy()
        y[y < 0] = 0
        return y


@case(record=False)
class AsRow(HybridBlock):
    def hybrid_forward(self, F, x):
        y = nd.zeros(x.shape)
        for i in range(x.shape[0]):
            y[i] = x[i] * i
        y[:, 0] += 1
        y[-1, 1:] = x[0, 1:]
        return y


@case(record=False)
class AsView(HybridBlock):
    def hybrid_forward(self, F, x):
        y = nd.zeros((3, x.shape[1]))
        v = y[1]
        v[:] = x[0]
        w = v
        w += 1
        y[0] = v
        return y


@case(record=False)
class AsArg(HybridBlock):
    def hybrid_forward(self, F, x):
        x[:] = x * 2
        x += 1
        return x


@case(record=False)
class AsOut(HybridBlock):
    def hybrid_forward(self, F, x):
        y = nd.zeros(x.shape)
        nd.relu(x, out=y)
        nd.elemwise_add(x, y, out=y)
        return y


@case()
class AugName(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x * 1
        z = y
        y = y + 1
        return y * z


@case(record=False)
class AugAttr(HybridBlock):
    def __init__(self):
        super().__init__()
        self.total = nd.zeros((1,))

    def hybrid_forward(self, F, x):
        self.total += x.sum()
        return x + self.total


@case(record=False)
class AugState(HybridBlock):
    def __init__(self):
        super().__init__()
        self.total = 0

    def hybrid_forward(self, F, x):
        self.total = self.total + x.mean()
        return x * self.total


@case()
class CfNested(HybridBlock):
    def hybrid_forward(self, F, x):
        for _i in range(3):
            if x.sum() > 4:
                if x.max() > 3:
                    break
                x = x - 1
                continue
            if x.min() < -1:
                x = -x
            else:
                x = x * 2
        return x


@case()
class CfTernary(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x if x.sum() > 0 else (-x if x.max() > 1 else x * 3)
        return y and y * 2 if False else y


@case()
class CfAndOr(HybridBlock):
    def hybrid_forward(self, F, x):
        a, b = x.sum() > 0, x.max() > 1
        if (a and not b) or x.shape[0] == 4:
            x = x + 1
        return x


@case()
class CfMinMax(HybridBlock):
    def hybrid_forward(self, F, x):
        m = max(x.sum(), x.mean() * 4)
        return x * m + min(x[0, 0], 0.5)


@case()
class CfAny(HybridBlock):
    def hybrid_forward(self, F, x):
        if any(r.sum() > 1 for r in x):
            return x * 2
        if all([r.max() > -5 for r in x]):
            return x * 3
        return x


@case()
class CfSorted(HybridBlock):
    def hybrid_forward(self, F, x):
        rows = [x[0] * k for k in (3, 1, 2)]
        return F.add_n(*rows)


@case()
class CfWhileElse(HybridBlock):
    def hybrid_forward(self, F, x):
        n = 0
        while n < 3:
            x = x + n
            n += 1
        else:
            x = x * 2
        return x


@case()
class CfTensorWhileNested(HybridBlock):
    def hybrid_forward(self, F, x):
        x = F.abs(x) + 0.1
        k = 0
        while x.sum() < 30:
            y = x
            while y.max() < 3:
                y = y * 2
                k += 1
            x = x + y
        return x * k


@case()
class CfTry(HybridBlock):
    def hybrid_forward(self, F, x):
        try:
            return x.reshape((7, -1))
        except mx.MXNetError:
            return x * 2


@case()
class CfLambda(HybridBlock):
    def hybrid_forward(self, F, x):
        act = {"r": lambda v: F.relu(v), "t": F.tanh}["r" if x.ndim == 2 else "t"]
        return functools.reduce(lambda a, b: a + b, [act(x * k) for k in range(3)])


@case()
class CfMap(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.concat(*(r * 2 for r in [x, -x]), dim=0) + sum(filter(None, [0, 1.5]))


@case()
class CfGen(HybridBlock):
    def rows(self, x):
        for i in range(x.shape[0]):
            yield x[i] * i

    def hybrid_forward(self, F, x):
        return sum(self.rows(x))


@case()
class CfMatch(HybridBlock):
    def hybrid_forward(self, F, x):
        match x.shape:
            case (2, n):
                return x * n
            case (m, _):
                return x + m


@case()
class CfWalrus(HybridBlock):
    def hybrid_forward(self, F, x):
        if (s := x.sum()) > 0:
            return x * s
        return x - s


@case()
class CfReturnNoneSide(HybridBlock):
    def hybrid_forward(self, F, x):
        y = None
        if x.shape[0] == 2:
            y = x * 2
        return x if y is None else y


@case()
class CfRecursion(HybridBlock):
    def go(self, F, x, n):
        if n == 0:
            return x
        if x.sum() > 2:
            return self.go(F, x * 0.5, n - 1)
        return self.go(F, x + 1, n - 1)

    def hybrid_forward(self, F, x):
        return self.go(F, x, 3)


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


@case()
class Br1(HybridBlock):
    def hybrid_forward(self, F, x):
        return x + x[0] - x[:, :1] * x.max(axis=0)


@case()
class Br2(HybridBlock):
    def hybrid_forward(self, F, x):
        return (x > x.mean(axis=1, keepdims=True)) * x + (x == x[0]) + x**2 - 2**x + x % 2


@case()
class Br3(HybridBlock):
    def hybrid_forward(self, F, x):
        a = x.expand_dims(0)
        b = x.expand_dims(1)
        return F.sqrt(((a - b) ** 2).sum(axis=2) + 1e-3)


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
class ItZip(HybridBlock):
    def hybrid_forward(self, F, x):
        t = 0
        for i, (a, b) in enumerate(itertools.pairwise(x)):
            t = t + a * b * (i + 1)
        return t


@case()
class ItWhileIter(HybridBlock):
    def hybrid_forward(self, F, x):
        it = iter(x)
        first = next(it)
        for r in it:
            first = first + r * 2
        return first


@case()
class ItDictAcc(HybridBlock):
    def hybrid_forward(self, F, x):
        d = collections.OrderedDict()
        for i in range(3):
            d[str(i)] = x * i
        d.update(a=x)
        return sum(d.values()) + len(d)


@case()
class ItComp(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.stack(*[a * b for a in x for b in [1, 2] if b > 1 or a.shape[0] == 3])


@case()
class ItSum(HybridBlock):
    def hybrid_forward(self, F, x):
        return sum(list(x), nd.zeros((x.shape[1],)))


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


@case()
class Largest(HybridBlock):
    def hybrid_forward(self, F, x):
        m = max(x.sum(), x.mean() * 4, 2)
        return x * m + min(x[0, 0], 0.5) + max([x[0, 1], x[1, 0]]) + max(x.shape)


@case()
class Truths(HybridBlock):
    def hybrid_forward(self, F, x):
        if any(row.sum() > 2 for row in x):
            return x * 2
        if all([row.sum() > -5 for row in x]) and not bool(x.sum() > 4):
            return x * 3
        return x * float(x.sum()) + int(x.max() * 2)


@case()
class NumberOrTensor(HybridBlock):
    def hybrid_forward(self, F, x):
        scale = x.sum() if x.max() > 1 else 1
        shift = 0 if x.min() > -1 else x.mean()
        return x * scale + shift


@pytest.mark.parametrize(("block", "calls", "record"), CASES)
def test_block_gives_what_it_gives_imperatively(block: Any, calls: Any, record: bool) -> None:
    assert_same_outcome(block, calls, record)
