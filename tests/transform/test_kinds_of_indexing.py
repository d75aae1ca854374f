"""Blocks that read shapes, index and write into arrays in every way: hybridized, each gives what it gives imperatively.

The blocks are compared as in `test_kinds_of_code.py`.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

from autohybrid import nd
from autohybrid.gluon import HybridBlock

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


@pytest.mark.parametrize(("block", "calls", "record"), CASES)
def test_block_that_indexes_gives_what_it_gives_imperatively(block: Any, calls: Any, record: bool) -> None:
    assert_same_outcome(block, calls, record)
