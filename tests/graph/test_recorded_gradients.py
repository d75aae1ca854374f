"""Gradients of recorded calls: which are computed, where they are written, and when the graph may be used again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graph.recorded_nets import (
    TOLERANCE,
    Function,
    compare,
    is_compiled,
    leaf,
    make_net,
    parameter_gradients,
    parameter_values,
    perceptron,
    plan_source,
    uniform,
    with_batch_norm,
)

from autohybrid import autograd, nd
from autohybrid.errors import MXNetError
from autohybrid.gluon import nn


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradients_of_parameters_and_inputs(grad_req: str) -> None:
    def run(net: Any) -> list[Any]:
        net.collect_params().setattr("grad_req", grad_req)
        x = leaf(4, 6, grad_req=grad_req)
        for _ in range(3):
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
        return [loss.asnumpy(), x.grad.asnumpy(), *parameter_gradients(net)]

    compare(perceptron, run)


def test_only_gradients_that_are_asked_for_are_computed() -> None:
    net = perceptron()
    net.collect_params(".*weight").setattr("grad_req", "null")
    net.hybridize()
    x = uniform(4, 6)
    with autograd.record():
        y = net(x)
    y.backward()
    (plan,) = next(iter(net._compiled.entries.values())).function._recorded._plans.values()
    source = plan.code(plan.active).source
    products = re.findall(r"(?<!ones\.T\.)(?<!ones_1\.T\.)\bdot\(|matmul\(", source)  # sums are products with ones
    assert is_compiled(y) and len(products) == 3  # two forward, one back through the second layer
    compare(perceptron, lambda n: [*_frozen_weights(n, x)])


def _frozen_weights(net: Any, x: Any) -> list[Any]:
    net.collect_params(".*weight").setattr("grad_req", "null")
    with autograd.record():
        y = net(x)
    y.backward()
    return parameter_gradients(net)


def test_a_head_gradient_is_used() -> None:
    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(uniform(4, 6))
        y.backward(uniform(4, 3, seed=5))
        return parameter_gradients(net)

    compare(perceptron, run)


def _two_outputs(F: Any, x: Any, y: Any) -> Any:
    return F.exp(x) * 2, F.sin(y) + 1, F.tanh(x * y)


@pytest.mark.parametrize("used", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("times", [1, 3])
def test_some_outputs_may_be_unused(used: tuple[int, ...], times: int) -> None:
    results = []
    for hybridize in (False, True):
        net = Function(_two_outputs)
        if hybridize:
            net.hybridize()
        x, y = leaf(3, 2), leaf(3, 2, seed=1)
        y.grad[:] = 7  # stays where no output that is used depends on y
        for _ in range(times):
            with autograd.record():
                outputs = net(x, y)
                loss = sum([outputs[i].sum() for i in used], nd.zeros((1,)))
            loss.backward()
        results.append((x.grad.asnumpy(), y.grad.asnumpy()))
    for wanted, found in zip(*results):
        np.testing.assert_allclose(found, wanted, **TOLERANCE)


@pytest.mark.parametrize("learn", [False, True])
def test_outputs_that_share_nothing_can_be_differentiated_one_after_the_other(learn: bool) -> None:
    net = Function(lambda F, x, y: (F.exp(x), F.exp(y)))
    net.hybridize()
    x, y = leaf(3), leaf(3, seed=1)
    if learn:
        with autograd.record():
            first, _ = net(x, y)
        first.backward()
    with autograd.record():
        first, second = net(x, y)
    first.backward()
    second.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()), **TOLERANCE)
    np.testing.assert_allclose(y.grad.asnumpy(), np.exp(y.asnumpy()), **TOLERANCE)
    with pytest.raises(MXNetError, match="freed by an earlier backward pass"):
        second.backward()


@pytest.mark.parametrize("learn", [False, True])
def test_outputs_that_share_an_operator_cannot(learn: bool) -> None:
    def outputs(F: Any, x: Any) -> Any:
        common = F.exp(x)
        return common * common, F.sin(common)

    net = Function(outputs)
    net.hybridize()
    x = leaf(3)
    if learn:
        with autograd.record():
            first, _ = net(x)
        first.backward()
    with autograd.record():
        first, second = net(x)
    first.backward()
    with pytest.raises(MXNetError, match="freed by an earlier backward pass"):
        second.backward()


def test_going_back_twice_needs_a_retained_graph() -> None:
    net = perceptron()
    net.hybridize()
    x = leaf(4, 6)
    with autograd.record():
        y = net(x)
    y.backward()
    with pytest.raises(MXNetError, match="freed by an earlier backward pass"):
        y.backward()
    with autograd.record():
        y = net(x)
    y.backward(retain_graph=True)
    first = x.grad.asnumpy()
    x.grad[:] = 0
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), first)
    with pytest.raises(MXNetError, match="freed by an earlier backward pass"):
        y.backward()


def test_gradients_of_gradients() -> None:
    def run(net: Any) -> list[Any]:
        x = leaf(4, 6)
        with autograd.record():
            y = net(x) ** 2
            (first,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
            penalty = (first**2).sum()
        penalty.backward()
        return [first.asnumpy(), x.grad.asnumpy(), *parameter_gradients(net)]

    compare(perceptron, run)


def test_autograd_grad_writes_nothing() -> None:
    net = perceptron()
    net.hybridize()
    x = leaf(4, 6)
    with autograd.record():
        y = net(x)
    (found,) = autograd.grad(y, [x])
    assert np.abs(found.asnumpy()).sum() > 0
    assert not np.any(x.grad.asnumpy())
    assert not any(np.any(g) for g in parameter_gradients(net))


def test_paused_parts_take_no_gradient() -> None:
    def partly(F: Any, x: Any) -> Any:
        with autograd.pause():
            scale = F.exp(x)
        return scale * x + F.BlockGrad(x) * x

    x = leaf(3)
    net = Function(partly)
    net.hybridize()
    with autograd.record():
        y = net(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()) + x.asnumpy(), **TOLERANCE)


def test_a_shared_parameter_sums_its_gradients() -> None:
    def make() -> Any:
        first = nn.Dense(6, in_units=6, activation="tanh")
        second = nn.Dense(6, in_units=6, params=first.params)
        return make_net(first, second)

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(net(uniform(4, 6)))
        y.backward()
        return parameter_gradients(net)

    compare(make, run)


def test_mixed_dtypes() -> None:
    def mixed(F: Any, x: Any, index: Any) -> Any:
        return F.cast(F.take(x, index), "float64") * 2

    x = leaf(4, 3)
    index = nd.array([1, 1, 3], dtype="int32")
    net = Function(mixed)
    net.hybridize()
    with autograd.record():
        y = net(x, index)
    y.backward()
    assert y.dtype == np.float64 and x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad.asnumpy(), [[0] * 3, [4] * 3, [0] * 3, [2] * 3])


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_widths(dtype: str) -> None:
    def run(net: Any) -> list[Any]:
        net.cast(dtype)
        with autograd.record():
            y = net(uniform(4, 6).astype(dtype))
        y.backward()
        return [y.asnumpy(), *parameter_gradients(net)]

    compare(perceptron, run, calls=1)


def test_gradients_are_written_where_they_belong() -> None:
    net = perceptron()
    net.hybridize()
    x = leaf(4, 6)
    memory = [p.grad()._data for p in net.collect_params().values()]
    wanted = []
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
        wanted.append(parameter_gradients(net))
    assert "memory_of_gradient" in plan_source(net)
    assert all(p.grad()._data is m for p, m in zip(net.collect_params().values(), memory))
    for first, second in zip(*wanted):
        np.testing.assert_array_equal(first, second)
    # A leaf that also gets a gradient from elsewhere, before and after the call on the way back.
    weight = net[0].weight.data()
    with autograd.record():
        loss = net(x).sum() + (weight * 2).sum()
    loss.backward()
    np.testing.assert_allclose(net[0].weight.grad().asnumpy(), _of(net, x) + 2, **TOLERANCE)
    with autograd.record():
        loss = net(x * (weight * 2).sum()).sum()
    loss.backward()
    found = net[0].weight.grad().asnumpy()
    net.hybridize(False)
    with autograd.record():
        loss = net(x * (weight * 2).sum()).sum()
    loss.backward()
    np.testing.assert_allclose(found, net[0].weight.grad().asnumpy(), rtol=2e-4, atol=1e-5)


def _of(net: Any, x: Any) -> Any:
    with autograd.record():
        loss = net(x).sum()
    loss.backward()
    return net[0].weight.grad().asnumpy()


def test_a_gradient_that_the_call_reads_is_not_written_early() -> None:
    net = Function(lambda F, x, g, w: F.dot(F.dot(x, g) * 2, w))
    net.hybridize()
    w = leaf(3, 3)
    x = leaf(3, 3, seed=1)
    w.grad[:] = uniform(3, 3, seed=2)
    kept = w.grad.asnumpy()
    for _ in range(2):
        w.grad[:] = nd.array(kept)
        with autograd.record():
            y = net(x, w.grad, w)
        y.backward()
        np.testing.assert_allclose(w.grad.asnumpy(), (x.asnumpy() @ kept * 2).T @ np.ones((3, 3)), **TOLERANCE)
        np.testing.assert_allclose(x.grad.asnumpy(), np.ones((3, 3)) @ w.asnumpy().T @ kept.T * 2, **TOLERANCE)
    w.grad[:] = nd.array(kept)
    with autograd.record():
        y = net(x, nd.array(kept), w)
    y.backward(w.grad)
    np.testing.assert_allclose(w.grad.asnumpy(), (x.asnumpy() @ kept * 2).T @ kept, **TOLERANCE)


def test_one_array_given_twice_gets_both_gradients() -> None:
    net = Function(lambda F, x, y: F.dot(x, y))
    net.hybridize()
    x = leaf(3, 3)
    with autograd.record():
        y = net(x, x)
    y.backward()
    ones = np.ones((3, 3))
    np.testing.assert_allclose(x.grad.asnumpy(), ones @ x.asnumpy().T + x.asnumpy().T @ ones, **TOLERANCE)


@pytest.mark.parametrize("make", [perceptron, with_batch_norm])
def test_exact_gradients_are_those_of_imperative_code_bit_for_bit(make: Callable[[], Any]) -> None:
    nets = [make(), make()]
    for net in nets:
        net(uniform(4, 6))
    for source, target in zip(nets[0].collect_params().values(), nets[1].collect_params().values()):
        target.set_data(source.data())
    nets[1].hybridize(exact=True)
    results = []
    for net in nets:
        x = leaf(4, 6)
        with autograd.record():
            y = net(x)
        y.backward(nd.array(np.arange(y.size).reshape(y.shape), dtype="float32"))
        results.append([y.asnumpy(), x.grad.asnumpy(), *parameter_gradients(net), *parameter_values(net)])
    for wanted, found in zip(*results):
        np.testing.assert_array_equal(found, wanted)
