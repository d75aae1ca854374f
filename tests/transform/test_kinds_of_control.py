"""Branches, loops, aliases, states and calls in blocks as people write them: hybridized, each gives what it gives.

The blocks are compared as in `test_kinds_of_code.py`.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import HybridBlock, nn, rnn

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
class Nonlocal(HybridBlock):
    def hybrid_forward(self, F, x):
        total = 0

        def add(v):
            nonlocal total
            total = total + v

        for r in x:
            add(r.sum())
        return x * total


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
class ListAlias(HybridBlock):
    def hybrid_forward(self, F, x):
        a = [x]
        b = a
        if x.sum() > 0:
            a.append(x * 2)
        else:
            a.append(x * 3)
        return sum(b)


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
class WithReturn(HybridBlock):
    def hybrid_forward(self, F, x):
        with autograd.pause():
            m = x.mean()
            if x.shape[0] == 2:
                return x * m
        return x + m


@case()
class TryFinally(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x
        try:
            if x.sum() > 0:
                y = x * 2
        finally:
            z = y + 1
        return z


@case()
class RaiseIn(HybridBlock):
    def hybrid_forward(self, F, x):
        if x.sum() > 1:
            raise ValueError("big")
        return x


@case()
class Static(HybridBlock):
    @staticmethod
    def f(F, x):
        if x.sum() > 0:
            return x * 2
        return x

    @classmethod
    def g(cls, F, x):
        return cls.f(F, x) + (1 if x.mean() > 0 else 2)

    def hybrid_forward(self, F, x):
        return self.f(F, x) + self.g(F, x) + Static.f(F, -x)


@case()
class Prop(HybridBlock):
    @property
    def k(self):
        return 3

    def hybrid_forward(self, F, x):
        return x * self.k


class Base(HybridBlock):
    def hybrid_forward(self, F, x):
        if x.sum() > 0:
            return x * self.factor(x)
        return x

    def factor(self, x):
        return 2


@case()
class Derived(Base):
    def hybrid_forward(self, F, x):
        return super().hybrid_forward(F, x) + super().factor(x)

    def factor(self, x):
        return 3 if x.max() > 1 else 4


@case()
class Deco(HybridBlock):
    def twice(f):
        @functools.wraps(f)
        def w(self, F, x):
            return f(self, F, f(self, F, x))

        return w

    @twice
    def hybrid_forward(self, F, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


@case()
class Scope(HybridBlock):
    def hybrid_forward(self, F, x):
        with contextlib.suppress(KeyError):
            x = {"a": x * 2}["a"]
            if x.sum() > 0:
                x = x + 1
        return x


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
class DelName(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x * 2
        if x.sum() > 0:
            x = y
        del y
        return x


@case()
class Star(HybridBlock):
    def f(self, *a, k=1, **kw):
        return sum(a) * k + kw.get("z", 0)

    def hybrid_forward(self, F, x):
        args = (x, x * 2)
        kw = {"z": 3}
        return self.f(*args, k=2, **kw) + self.f(x)


@case()
class CondDefault(HybridBlock):
    def hybrid_forward(self, F, x, scale=None):
        scale = scale or 2
        return x * scale


@case()
class BoolTensor(HybridBlock):
    def hybrid_forward(self, F, x):
        keep = x.sum() > 0
        y = keep * x + (1 - keep) * -x
        if keep:
            y = y + 1
        if not keep and keep is not None:
            y = y - 1
        return y


@case()
class EqNone(HybridBlock):
    def hybrid_forward(self, F, x):
        return x * 2 if x is not None and x is not None else x


@case()
class InList(HybridBlock):
    def hybrid_forward(self, F, x):
        act = "relu"
        if act in ("relu", "tanh") and x.ndim in (2, 3):
            x = getattr(F, act)(x)
        return x


@case()
class StrFmt(HybridBlock):
    def hybrid_forward(self, F, x):
        name = f"{x.shape[0]}-{x.dtype}"
        return x * len(name)


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
class Swap(HybridBlock):
    def hybrid_forward(self, F, x):
        a, b = x, x * 2
        if a.sum() > b.sum():
            a, b = b, a
        (c, d), e = (a, b), 3
        return a - b * 3 + c * d * e


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


@case(record=False)
class ArgAlias(HybridBlock):
    def hybrid_forward(self, F, x):
        y = x
        if x.sum() > 0:
            y = x * 2
        z = y + 1
        return z * y


@case()
class CellInLoop(HybridBlock):
    """The counter with which a cell numbers its steps is no state that a branch decides."""

    def __init__(self):
        super().__init__()
        self.cell = rnn.RNNCell(3, input_size=3)

    def hybrid_forward(self, F, x):
        h = self.cell.begin_state(1)
        for t in range(x.shape[0]):
            y, h = self.cell(x[t : t + 1], h)
            if y.sum() > 1:
                break
        return y + h[0]


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
