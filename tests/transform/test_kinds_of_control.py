"""Branches, loops, aliases, states and calls in blocks as people write them: hybridized, each gives what it gives.

The blocks are compared as in `test_kinds_of_code.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock, nn

CASES: list[Any] = []
case = collector(CASES)


@case()
class BnInBranch(HybridBlock):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm(in_channels=3)

    def hybrid_forward(self, F, x):
        if x.sum() > 0:
            return self.bn(x)
        return x * 2


@case()
class DropInBranch(HybridBlock):
    def hybrid_forward(self, F, x):
        if x.sum() > 0:
            x = F.Dropout(x, p=0.5)
        return x + F.random.uniform(0, 1, shape=(1, 3))


@case()
class RandInWhile(HybridBlock):
    def hybrid_forward(self, F, x):
        x = F.abs(x)
        while x.sum() < 20:
            x = x + F.random.uniform(0, 1, shape=(1, 3))
        return x


@case()
class DenseInLoop(HybridBlock):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(3, in_units=3, flatten=False)

    def hybrid_forward(self, F, x):
        for _k in range(4):
            y = F.tanh(self.d(x))
            if F.abs(y - x).mean() < 0.3:
                break
            x = y
        return x


@case()
class ListBranch(HybridBlock):
    def hybrid_forward(self, F, x):
        a = [x, x * 2]
        if x.sum() > 0:
            a[0] = x * 3
        else:
            a.reverse()
        b = a
        if x.max() > 1:
            b = [b[1], b[0]]
        return a[0] + b[1] * 5


@case()
class DictBranch(HybridBlock):
    def hybrid_forward(self, F, x):
        d = {"a": x}
        e = d
        if x.sum() > 0:
            d["a"] = x * 3
        return e["a"] + d["a"]


@case()
class AliasRebind(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x
        if x.sum() > 0:
            y = x * 2
        z = y
        y = y + 1
        return z * y


@case(record=False)
class ViewBranch(HybridBlock):
    def hybrid_forward(self, F, x):
        a = nd.zeros((2, 3))
        v = a[0]
        if x.sum() > 0:
            v[:] = 5
        else:
            a[1] = 7
        v += x[0]
        return a


@case(record=False)
class LoopWrites(HybridBlock):
    def hybrid_forward(self, F, x):
        a = nd.zeros((3, 3))
        for i in range(3):
            if x[0, i] > 0:
                continue
            a[i] = x[0] * i
            if a.sum() > 2:
                break
        return a


@case()
class ForRet(HybridBlock):
    def hybrid_forward(self, F, x):
        for i in range(2):
            for j in range(2):
                if x.sum() > i + j:
                    return x * (i * 2 + j + 1)
                x = x + 1
        return -x


@case()
class WhileRet(HybridBlock):
    def hybrid_forward(self, F, x):
        n = 0
        while x.sum() < 10:
            x = x + 1
            n += 1
            if n > 3:
                return x * n
        return x - n


@case()
class WhileCont(HybridBlock):
    def hybrid_forward(self, F, x):
        n = 0
        while n < 5:
            n += 1
            if x.max() > n:
                continue
            x = x + n
        return x


@case()
class CondDefault(HybridBlock):
    def hybrid_forward(self, F, x, scale=None):
        scale = scale or 2
        return x * scale


@case()
class AttrWhile(HybridBlock):
    def __init__(self):
        super().__init__()
        self.n = 0

    def hybrid_forward(self, F, x):
        self.n = 0
        while self.n < 3:
            x = x + self.n
            self.n += 1
        return x * self.n


@case()
class AttrFor(HybridBlock):
    def __init__(self):
        super().__init__()
        self.h = None

    def hybrid_forward(self, F, x):
        self.h = x
        for _k in range(3):
            if self.h.sum() > 4:
                break
            self.h = self.h + x
        return self.h


@case()
class AttrNum(HybridBlock):
    def __init__(self):
        super().__init__()
        self.n = 0

    def hybrid_forward(self, F, x):
        self.n = 0
        if x.sum() > 0:
            self.n = 2
        return x * self.n


@case()
class Foreach(HybridBlock):
    def hybrid_forward(self, F, x):
        out, st = F.contrib.foreach(lambda d, s: (d * 2 + s, s + d), x, F.zeros((3,)))
        return out + st


@case()
class Cond(HybridBlock):
    def hybrid_forward(self, F, x):
        return F.contrib.cond(x.sum() > 0, lambda: x * 2, lambda: -x)


@case()
class WhileLoop(HybridBlock):
    def hybrid_forward(self, F, x):
        _o, s = F.contrib.while_loop(
            lambda i, v: v.sum() < 20, lambda i, v: (v, (i + 1, v + F.abs(v) + 1)), (F.zeros((1,)), x), max_iterations=4
        )
        return s[1] * s[0]


@case()
class Accum(HybridBlock):
    def hybrid_forward(self, F, x):
        loss = 0.0
        for i, r in enumerate(x):
            if r.sum() > 0:
                loss = loss + r.sum()
            else:
                loss = loss - r.mean() * i
        return loss * x


@case()
class MaskedMean(HybridBlock):
    def hybrid_forward(self, F, x):
        m = x > 0
        n = m.sum()
        if n == 0:
            return x * 0
        return (x * m).sum() / n * F.ones_like(x)


@case()
class EarlyStop(HybridBlock):
    def hybrid_forward(self, F, x):
        prev = None
        for _k in range(4):
            y = F.tanh(x * 1.3)
            if prev is not None and F.abs(y - prev).max() < 0.2:
                break
            prev = y
            x = y
        return x


@case()
class WhileAlias(HybridBlock):
    def hybrid_forward(self, F, x):
        a = [F.abs(x)]
        b = a
        d = {"k": x}
        e = d
        while a[0].sum() < 20:
            a[0] = a[0] * 2
            d["k"] = d["k"] + 1
        return b[0] + e["k"]


@case()
class BranchThenAppend(HybridBlock):
    def hybrid_forward(self, F, x):
        rows = [x]
        for k in range(3):
            if x.sum() > k:
                rows.append(x * k)
            else:
                rows.append(-x)
        return F.add_n(*rows)


@case(record=False)
class RebindThenWrite(HybridBlock):
    def hybrid_forward(self, F, x):
        out = nd.zeros((2, 3))
        for k in range(2):
            if x[k].sum() > 0:
                out = out + 1
            out[k] = x[k]
        return out


@case()
class ItemCounted(HybridBlock):
    def hybrid_forward(self, F, x):
        counts = {"n": 0, "m": [1, 2]}
        if x.sum() > 0:
            counts["n"] += 1
        return x * counts["n"] + counts["m"][0]


@pytest.mark.parametrize(("block", "calls", "record"), CASES)
def test_block_with_control_gives_what_it_gives_imperatively(block: Any, calls: Any, record: bool) -> None:
    assert_same_outcome(block, calls, record)


class NonlocalBranch(HybridBlock):
    def hybrid_forward(self, F, x):
        total = x * 0

        def add(v):
            nonlocal total
            total = total + v

        if x.sum() > 0:
            add(x)
        return total


class AliasWrite(HybridBlock):
    def hybrid_forward(self, F, x):
        a = nd.zeros((3,))
        b = a
        if x.sum() > 0:
            b = nd.ones((3,))
        b += 1
        return x + a + b


@pytest.mark.parametrize(
    ("block", "message"), [(NonlocalBranch, "nonlocal"), (AliasWrite, "an array that a branch on a tensor chose")]
)
def test_what_only_the_run_would_know_is_refused(block: Any, message: str) -> None:
    net = block()
    net.hybridize(fallback=False)
    with pytest.raises(mx.HybridizeError, match=message):
        net(nd.ones((2, 3)))
