"""`nd.contrib.foreach`, `while_loop` and `cond`: outputs, states, gradients and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx

contrib = mx.nd.contrib


def test_foreach_stacks_outputs_and_hands_on_states() -> None:
    data = mx.nd.array([[1, 2], [3, 4], [5, 6]])
    outputs, states = contrib.foreach(lambda x, s: (x * s[0], [s[0] + x]), data, [mx.nd.ones(2)])
    assert outputs.asnumpy().tolist() == [[1, 2], [6, 12], [25, 42]]
    assert [s.asnumpy().tolist() for s in states] == [[10, 13]]


def test_foreach_keeps_the_structure_of_data_and_outputs() -> None:
    data = [mx.nd.array([1, 2]), mx.nd.array([3, 4])]
    outputs, states = contrib.foreach(lambda x, s: ([x[0] + x[1], [x[0]]], s), data, [])
    assert outputs[0].asnumpy().ravel().tolist() == [4, 6]
    assert outputs[1][0].asnumpy().ravel().tolist() == [1, 2]
    assert states == []


def test_gradients_flow_through_foreach_into_what_its_body_uses() -> None:
    data, weight = mx.nd.array([[1.0], [2.0], [3.0]]), mx.nd.array([2.0])
    weight.attach_grad()
    with mx.autograd.record():
        _, state = contrib.foreach(lambda x, s: (s, s * weight + x), data, mx.nd.zeros(1))
    state.backward()
    assert weight.grad.asscalar() == 2 * 2 * 1 + 2  # of x1 w**2 + x2 w + x3


def test_while_loop_fills_its_outputs_with_zeros() -> None:
    outputs, (count, total) = contrib.while_loop(
        lambda i, s: i < 3, lambda i, s: (i * 10, [i + 1, s + i]), [mx.nd.zeros(1), mx.nd.zeros(1)], max_iterations=5
    )
    assert outputs.asnumpy().ravel().tolist() == [0, 10, 20, 0, 0]
    assert (count.asscalar(), total.asscalar()) == (3, 3)


@pytest.mark.parametrize("way", ["imperative", "hybridized", "symbols"])
def test_while_loop_takes_nested_loop_variables(way: str) -> None:
    def run(F: Any, x: Any) -> Any:
        return F.contrib.while_loop(
            lambda a, rest: F.sum(a) < 20, lambda a, rest: (a, [a * 2, [rest[0] + a]]), [x, [x + 1]], max_iterations=4
        )

    class Loop(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return run(F, x)

    x = mx.nd.array([1, 2])
    if way == "symbols":
        outputs, (last, (total,)) = run(mx.sym, mx.sym.var("x"))
        values = mx.sym.Group([outputs, last, total]).eval(x=x)
    else:
        block = Loop()
        if way == "hybridized":
            block.hybridize()
        outputs, (last, (total,)) = block(x)
        values = [outputs, last, total]
    rows = [[1, 2], [2, 4], [4, 8], [0, 0]]
    assert [v.asnumpy().tolist() for v in values] == [rows, [8, 16], [9, 17]]


def test_while_loop_stops_at_max_iterations() -> None:
    _, value = contrib.while_loop(lambda x: x > 0, lambda x: (None, x + 1), mx.nd.ones(1), max_iterations=4)
    assert value.asscalar() == 5


def test_while_loop_without_a_step_has_no_outputs() -> None:
    outputs, value = contrib.while_loop(lambda x: x < 0, lambda x: (x, x), mx.nd.ones(1), max_iterations=4)
    assert outputs == []
    assert value.asscalar() == 1


@pytest.mark.parametrize("value, expected", [(1, 5), (0, -1)])
def test_cond_runs_one_branch_and_differentiates_it(value: int, expected: int) -> None:
    x = mx.nd.array([2.0])
    x.attach_grad()
    with mx.autograd.record():
        y = contrib.cond(mx.nd.array([value]), lambda: x * 5, lambda: 3 - x)
    y.backward()
    assert x.grad.asscalar() == expected


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: contrib.while_loop(lambda v: v < 3, lambda v: (v, v), x), "max_iterations"),
        (lambda x: contrib.while_loop(lambda v: v < 3, lambda v: (v, [v, v]), x, 3), "2 loop variables for 1"),
        (lambda x: contrib.foreach(lambda v, s: (v, s), np.ones(3), x), "`data` must be an NDArray"),
        (lambda x: contrib.foreach(lambda v, s: (1, s), x, x), "must be NDArrays, not int"),
        (lambda x: contrib.cond(x, lambda: x, lambda: x), "not a scalar"),
    ],
)
def test_what_does_not_fit_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(mx.nd.array([1.0, 2.0]) if "scalar" in words else mx.nd.ones(1))  # type: ignore[operator]


def test_foreach_over_nothing_is_refused() -> None:
    with pytest.raises(mx.MXNetError, match="outputs are unknown"):
        contrib.foreach(lambda v, s: (v, s), mx.nd.zeros((0, 2)), mx.nd.zeros(2))
