"""Recorded calls of hybridized blocks: one tape node, and in every respect what the imperative block does."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graph.recorded_nets import (
    TOLERANCE,
    Function,
    is_compiled,
    leaf,
    make_net,
    perceptron,
    uniform,
)

from autohybrid import autograd, nd
from autohybrid.errors import MXNetError
from autohybrid.gluon import nn
from autohybrid.tensor.tape import Variable


def test_a_recorded_call_is_one_node_on_the_tape() -> None:
    net = perceptron()
    net.hybridize()
    with autograd.record():
        y = net(uniform(4, 6))
    assert is_compiled(y)
    assert all(isinstance(entry[0], Variable) for entry in y._entry[0].entries if entry is not None)


@pytest.mark.parametrize(
    "function",
    [
        lambda F, x: F.contrib.cond(x.sum() > 0, lambda: x * 2, lambda: x * 3),
        lambda F, x: F.contrib.foreach(lambda d, s: (d * s, s + d), x, F.ones((2,)))[0],
        lambda F, x: F.argmax(x, axis=1) * 1.0,
    ],
    ids=["cond", "foreach", "argmax"],
)
def test_graphs_with_bodies_or_without_gradients_agree_too(function: Callable[..., Any]) -> None:
    found = []
    for hybridize in (False, True):
        net = Function(function)
        if hybridize:
            net.hybridize()
        x = leaf(3, 2)
        x.grad[:] = 5
        with autograd.record():
            y = net(x)
        y.backward()
        found.append((y.asnumpy(), x.grad.asnumpy()))
    for wanted, value in zip(*found):
        np.testing.assert_allclose(value, wanted, **TOLERANCE)


def test_an_output_that_depends_on_no_marked_array_is_not_on_the_tape() -> None:
    net = Function(lambda F, x, y: (F.exp(x), F.exp(y)))
    net.hybridize()
    x, y = leaf(3), uniform(3, seed=1)
    with autograd.record():
        first, second = net(x, y)
    assert first._entry is not None and second._entry is None
    first.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()), **TOLERANCE)
    with autograd.record():
        assert net(y, y)[0]._entry is None


@pytest.mark.parametrize("reshape", [False, True])
def test_writing_into_an_input_before_the_backward_pass(reshape: bool) -> None:
    """The backward pass reads what the input holds by then; a value computed from it in the call stays."""

    def product(F: Any, x: Any, w: Any) -> Any:
        return (F.reshape(x, (3, 2)) if reshape else F.transpose(x)) * w

    found = []
    for hybridize in (False, True):
        net = Function(product)
        if hybridize:
            net.hybridize()
        x, w = leaf(2, 3), leaf(3, 2, seed=1)
        for _ in range(2):
            with autograd.record():
                y = net(x, w)
            with autograd.pause():
                x[:] = x * 3
                w[:] = w - 1
            y.backward()
            found.append((x.grad.asnumpy(), w.grad.asnumpy()))
    for wanted, value in zip(found[0] + found[1], found[2] + found[3]):
        np.testing.assert_array_equal(value, wanted)


def test_retaining_a_graph_whose_input_was_written_is_refused() -> None:
    net = perceptron()
    net.hybridize()
    x = leaf(4, 6)
    with autograd.record():
        y = net(x)
    net[0].weight.data()[:] = 0
    with pytest.raises(MXNetError, match="weight` was written after the hybridized call"):
        y.backward(retain_graph=True)
    y.backward()


def test_outputs_and_gradients_are_memory_of_their_own() -> None:
    net = Function(lambda F, x: (F.reshape(x, (6,)), F.relu(x)))
    net.hybridize()
    x = leaf(2, 3)
    with autograd.record():
        flat, positive = net(x)
        first = positive.asnumpy()
    flat[:] = 9
    with autograd.record():
        net(x + 1)
    np.testing.assert_array_equal(positive.asnumpy(), first)
    assert x.asnumpy().max() < 1
    head = nd.ones((6,))
    with autograd.record():
        flat, _ = net(x)
    (gradient,) = autograd.grad(flat, [x], [head])
    gradient[:] = 5
    np.testing.assert_array_equal(head.asnumpy(), 1)


def test_calls_may_overlap_and_be_dropped() -> None:
    """Buffers belong to one call until its backward pass is over."""
    net = make_net(nn.Dense(300, activation="relu", in_units=6), nn.Dense(300, activation="sigmoid"), nn.Dense(2))
    x, other = leaf(64, 6), leaf(64, 6, seed=4)
    wanted = []
    for array in (x, other):
        with autograd.record():
            y = net(array)
        y.backward()
        wanted.append(array.grad.asnumpy())
    net.hybridize()
    for _ in range(2):
        with autograd.record():
            first = net(x)
            dropped = net(x * 2)
            second = net(other)
        del dropped
        gc.collect()
        second.backward()
        first.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), wanted[0], **TOLERANCE)
        np.testing.assert_allclose(other.grad.asnumpy(), wanted[1], **TOLERANCE)


def test_the_graph_of_a_recorded_call_as_a_symbol() -> None:
    net = Function(lambda F, x: F.exp(x) * x)
    net.hybridize()
    x = leaf(3)
    with autograd.record():
        y = net(x) + 1
    symbol = autograd.get_symbol(y)
    assert len(symbol.list_arguments()) == 1
    assert "exp" in symbol.tojson()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()) * (1 + x.asnumpy()), **TOLERANCE)


def test_threads_have_buffers_of_their_own() -> None:
    net = make_net(nn.Dense(200, activation="relu", in_units=6), nn.Dense(200, activation="tanh"), nn.Dense(1))
    net(uniform(2, 6))
    net.collect_params().setattr("grad_req", "null")
    net.hybridize()
    inputs = [leaf(64, 6, seed=seed) for seed in range(4)]
    wanted = []
    for x in inputs:
        with autograd.record():
            y = net(x)
        y.backward()
        wanted.append(x.grad.asnumpy())
    failures: list[int] = []

    def work(k: int) -> None:
        for _ in range(20):
            with autograd.record():
                y = net(inputs[k])
            y.backward()
            if not np.array_equal(inputs[k].grad.asnumpy(), wanted[k]):
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_an_operator_that_fails_in_the_call_names_itself() -> None:
    net = Function(lambda F, x, index: F.take(x, index, mode="raise"))
    net.hybridize()
    x = leaf(3, 2)
    with autograd.record(), pytest.raises(MXNetError, match="take"):
        net(x, nd.array([7]))


def test_graphs_that_are_always_retained_go_on_the_tape_at_once() -> None:
    net = perceptron()
    net.hybridize()
    x = leaf(4, 6)
    compiled, gradients = [], []
    for step in range(40):
        with autograd.record():
            y = net(x)
        compiled.append(is_compiled(y))
        y.backward(retain_graph=step < 30)
        gradients.append(x.grad.asnumpy())
    assert compiled[:2] == [True, True] and sum(compiled[:30]) < 8  # tried again after ever longer rests
    for found in gradients[1:]:
        np.testing.assert_array_equal(found, gradients[0])


@pytest.mark.parametrize("kernel", [(1, 2), (2, 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("record", [False, True])
def test_results_of_pooling_outlive_later_calls(kernel: tuple[int, int], record: bool) -> None:
    net = make_net(nn.MaxPool2D(kernel, kernel))
    net.hybridize()
    x = leaf(2, 3, 40, 60)
    with autograd.record() if record else autograd.pause():
        first = net(x)
        wanted = first.asnumpy()
        second = net(x + 1)
    np.testing.assert_array_equal(first.asnumpy(), wanted)
    np.testing.assert_allclose(second.asnumpy(), wanted + 1, rtol=1e-6)
    net.hybridize(False)
    np.testing.assert_array_equal(net(x).asnumpy(), wanted)
