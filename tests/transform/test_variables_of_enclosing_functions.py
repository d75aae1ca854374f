"""What a block reads of the function that defines its class: hybridized it sees later values, as imperatively."""

from __future__ import annotations

import types
from typing import Any

import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import HybridBlock


def test_later_values_of_enclosing_variables_are_seen() -> None:
    scale, offset, steps = 2, nd.array([1.0, 2.0]), [1]

    class Net(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            count = 0

            def helper(value: Any) -> Any:
                nonlocal count
                count += 1
                return value * scale

            y = helper(x) + helper(x * 2)
            return y * count + offset + len(steps)

    imperative, hybridized = Net(), Net()
    hybridized.hybridize(fallback=False)
    x = nd.ones((2,))

    def compare() -> list[float]:
        found: list[float] = hybridized(x).asnumpy().tolist()
        assert found == imperative(x).asnumpy().tolist()
        return found

    assert compare() == compare() == [14, 15]
    scale = 5
    assert compare() == [32, 33]
    offset = nd.array([10.0, 20.0])
    assert compare() == [41, 51]
    steps.append(2)
    assert compare() == [42, 52]
    assert not hybridized._compiled.imperative


def test_blocks_made_in_a_loop_each_see_the_variable_as_it_is() -> None:
    class Net(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return x + F.zeros(shape) + extra

    for shape, extra in (((2,), 1), ((3,), 2), ((2,), 5)):
        net = Net()
        net.hybridize(fallback=False)
        assert net(nd.ones(shape)).asnumpy().tolist() == [1.0 + extra] * shape[0]


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
def test_a_counter_in_the_enclosing_function_counts_every_call() -> None:
    calls = 0

    class Net(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            nonlocal calls
            calls += 1
            return x * calls

    net = Net()
    net.hybridize()
    assert [net(nd.ones((1,))).asscalar() for _ in range(4)] == [1, 2, 3, 4]
    assert calls == 4


def test_a_variable_assigned_after_the_class_is_found() -> None:
    class Net(HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return x * later

    net = Net()
    net.hybridize(fallback=False)
    with pytest.raises(NameError):
        net(nd.ones((1,)))
    later = 3
    assert net(nd.ones((1,))).asscalar() == 3


def test_arrays_of_the_module_may_be_replaced() -> None:
    scope: dict[str, Any] = {"weight": nd.array([2.0]), "HybridBlock": mx.gluon.HybridBlock}

    def hybrid_forward(self: Any, F: Any, x: Any) -> Any:
        return x * weight  # type: ignore[name-defined]  # noqa: F821

    forward = types.FunctionType(hybrid_forward.__code__, {**globals(), **scope}, "hybrid_forward")
    net = type("Net", (HybridBlock,), {"hybrid_forward": forward})()
    net.hybridize(fallback=False)
    assert net(nd.ones((1,))).asscalar() == 2
    forward.__globals__["weight"] = nd.array([7.0])
    assert net(nd.ones((1,))).asscalar() == 7
