"""Calls, properties, inheritance, decorators and statements of Python in blocks: hybridized, each gives what it gives.

The blocks are compared as in `test_kinds_of_code.py`.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

from autohybrid import autograd
from autohybrid.gluon import HybridBlock, rnn

CASES: list[Any] = []
case = collector(CASES)


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
class Swap(HybridBlock):
    def hybrid_forward(self, F, x):
        a, b = x, x * 2
        if a.sum() > b.sum():
            a, b = b, a
        (c, d), e = (a, b), 3
        return a - b * 3 + c * d * e


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


@pytest.mark.parametrize(("block", "calls", "record"), CASES)
def test_block_with_calls_gives_what_it_gives_imperatively(block: Any, calls: Any, record: bool) -> None:
    assert_same_outcome(block, calls, record)
