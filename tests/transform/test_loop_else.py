"""`else` of loops that tensors end, and functions with gradients of their own: hybridized, each gives what it gives."""

from __future__ import annotations

from typing import Any

import pytest
from transform.same_outcome import assert_same_outcome, collector

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import HybridBlock

CASES: list[Any] = []
case = collector(CASES)
ROWS = ((2, 3),), ((4, 3),), ((1, 3),)


@case(*ROWS)
class WhileElse(HybridBlock):
    def hybrid_forward(self, F, x):
        rounds = 0
        while F.abs(x).sum() > 2:
            x = x / 2
            rounds += 1
            if rounds > 1:
                break
        else:
            x = x + 100
        return x * rounds


@case(*ROWS)
class ForElse(HybridBlock):
    def hybrid_forward(self, F, x):
        total = x[0] * 0
        for row in x:
            if row.sum() > 1:
                break
            total = total + row
        else:
            total = total - 1
        return total


@case(*ROWS)
class ForElseWithReturn(HybridBlock):
    def hybrid_forward(self, F, x):
        for row in x:
            if row.sum() > 1:
                return row * 3
            if row.max() > 1:
                break
        else:
            if x.mean() > 0:
                return x[0]
            x = x - 1
        return x[0] * 2


@case(*ROWS)
class BranchInTheElseOfAPlainLoop(HybridBlock):
    def hybrid_forward(self, F, x):
        for step in range(3):
            x = x * (step + 1)
        else:
            if x.sum() > 0:
                x = -x
        return x


@case(*ROWS)
class ElseInsideALoop(HybridBlock):
    def hybrid_forward(self, F, x):
        total = x[0] * 0
        for row in x:
            for step in range(3):
                if (row * step).sum() > 1:
                    break
            else:
                continue
            total = total + row * step
        return total


class Steeper(autograd.Function):
    def forward(self, x: Any) -> Any:
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: Any) -> Any:
        (y,) = self.saved_tensors
        return dy * y * (1 - y) * 5


@case()
class OwnGradient(HybridBlock):
    def hybrid_forward(self, F, x):
        return Steeper()(x) + x


@case()
class OwnGradientInABranch(HybridBlock):
    def hybrid_forward(self, F, x):
        if x.shape[0] > 2:
            return Steeper()(x * 2) * x
        return x


@pytest.mark.parametrize(("block", "shapes", "record"), CASES)
def test_hybridized_equals_imperative(block: type[HybridBlock], shapes: Any, record: bool) -> None:
    assert_same_outcome(block, shapes, record)


def test_a_gradient_in_python_is_announced_with_its_place() -> None:
    net = OwnGradient()
    net.hybridize()
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record(), pytest.warns(mx.HybridizeWarning, match=r"test_loop_else.py:\d+:\d+.*Steeper is Python"):
        net(x)
