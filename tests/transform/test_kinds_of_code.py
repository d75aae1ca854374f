"""Blocks of every kind of code that hybridize() meets in practice: each gives what it gives imperatively.

Every block is called with several shapes, twice each, with and without recording; results, their structure, arguments
that it wrote into, and the gradients of arguments and parameters are compared.
"""

from __future__ import annotations

import collections
import functools
import itertools
from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock

CASES: list[Any] = []
case = collector(CASES)


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
