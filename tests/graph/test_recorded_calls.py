"""Recorded calls of hybridized blocks: one tape node, and in every respect what the imperative block does."""

from __future__ import annotations

import gc
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.errors import MXNetError
from autohybrid.gluon import nn
from autohybrid.graph.recorded_call import RecordedCall
from autohybrid.tensor.tape import Variable

_RTOL = {"rtol": 2e-5, "atol": 1e-6}


class _Function(gluon.HybridBlock):
    """A block without parameters around a function of `F` and its inputs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def hybrid_forward(self, F: Any, *inputs: Any) -> Any:
        return self._function(F, *inputs)


def _array(*shape: int, seed: int = 0) -> nd.NDArray:
    return nd.array(np.random.RandomState(seed).uniform(-1, 1, shape), dtype="float32")


def _leaf(*shape: int, seed: int = 0, grad_req: str = "write") -> nd.NDArray:
    array = _array(*shape, seed=seed)
    array.attach_grad(grad_req)
    return array


def _net(*layers: Any) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(*layers)
    net.initialize(mx.init.Xavier())
    return net


def _is_compiled(output: Any) -> bool:
    return output._entry is not None and isinstance(output._entry[0], RecordedCall)


def _both(make: Callable[[], Any], run: Callable[[Any], list[Any]], calls: int = 2) -> None:
    """`run(net)` gives the same arrays on an imperative net as on a hybridized one with the same parameters."""
    imperative, hybridized = make(), make()
    imperative(_array(4, 6)), hybridized(_array(4, 6))
    for source, target in zip(imperative.collect_params().values(), hybridized.collect_params().values()):
        target.set_data(source.data())
    hybridized.hybridize()
    for _ in range(calls):
        for wanted, found in zip(run(imperative), run(hybridized)):
            np.testing.assert_allclose(found, wanted, **_RTOL)


def _gradients(net: Any) -> list[Any]:
    return [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]


def _values(net: Any) -> list[Any]:
    return [p.data().asnumpy() for p in net.collect_params().values()]


def _perceptron() -> Any:
    return _net(nn.Dense(5, activation="relu", in_units=6), nn.Dense(3, activation="tanh", in_units=5))


def test_a_recorded_call_is_one_node_on_the_tape() -> None:
    net = _perceptron()
    net.hybridize()
    with autograd.record():
        y = net(_array(4, 6))
    assert _is_compiled(y)
    assert all(isinstance(entry[0], Variable) for entry in y._entry[0].entries if entry is not None)


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradients_of_parameters_and_inputs(grad_req: str) -> None:
    def run(net: Any) -> list[Any]:
        net.collect_params().setattr("grad_req", grad_req)
        x = _leaf(4, 6, grad_req=grad_req)
        for _ in range(3):
            with autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
        return [loss.asnumpy(), x.grad.asnumpy(), *_gradients(net)]

    _both(_perceptron, run)


def test_only_gradients_that_are_asked_for_are_computed() -> None:
    net = _perceptron()
    net.collect_params(".*weight").setattr("grad_req", "null")
    net.hybridize()
    x = _array(4, 6)
    with autograd.record():
        y = net(x)
    y.backward()
    (plan,) = next(iter(net._compiled.entries.values())).function._recorded._plans.values()
    source = plan.code(plan.active).source
    assert (
        _is_compiled(y) and len(re.findall(r"\bdot\(|matmul\(", source)) == 3
    )  # two forward, one back through the second layer
    _both(_perceptron, lambda n: [*_frozen_weights(n, x)])


def _frozen_weights(net: Any, x: Any) -> list[Any]:
    net.collect_params(".*weight").setattr("grad_req", "null")
    with autograd.record():
        y = net(x)
    y.backward()
    return _gradients(net)


def test_a_head_gradient_is_used() -> None:
    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(_array(4, 6))
        y.backward(_array(4, 3, seed=5))
        return _gradients(net)

    _both(_perceptron, run)


def _two_outputs(F: Any, x: Any, y: Any) -> Any:
    return F.exp(x) * 2, F.sin(y) + 1, F.tanh(x * y)


@pytest.mark.parametrize("used", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("times", [1, 3])
def test_some_outputs_may_be_unused(used: tuple[int, ...], times: int) -> None:
    results = []
    for hybridize in (False, True):
        net = _Function(_two_outputs)
        if hybridize:
            net.hybridize()
        x, y = _leaf(3, 2), _leaf(3, 2, seed=1)
        y.grad[:] = 7  # stays where no output that is used depends on y
        for _ in range(times):
            with autograd.record():
                outputs = net(x, y)
                loss = sum([outputs[i].sum() for i in used], nd.zeros((1,)))
            loss.backward()
        results.append((x.grad.asnumpy(), y.grad.asnumpy()))
    for wanted, found in zip(*results):
        np.testing.assert_allclose(found, wanted, **_RTOL)


@pytest.mark.parametrize("learn", [False, True])
def test_outputs_that_share_nothing_can_be_differentiated_one_after_the_other(learn: bool) -> None:
    net = _Function(lambda F, x, y: (F.exp(x), F.exp(y)))
    net.hybridize()
    x, y = _leaf(3), _leaf(3, seed=1)
    if learn:
        with autograd.record():
            first, _ = net(x, y)
        first.backward()
    with autograd.record():
        first, second = net(x, y)
    first.backward()
    second.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()), **_RTOL)
    np.testing.assert_allclose(y.grad.asnumpy(), np.exp(y.asnumpy()), **_RTOL)
    with pytest.raises(MXNetError, match="freed by an earlier backward pass"):
        second.backward()


@pytest.mark.parametrize("learn", [False, True])
def test_outputs_that_share_an_operator_cannot(learn: bool) -> None:
    def outputs(F: Any, x: Any) -> Any:
        common = F.exp(x)
        return common * common, F.sin(common)

    net = _Function(outputs)
    net.hybridize()
    x = _leaf(3)
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
    net = _perceptron()
    net.hybridize()
    x = _leaf(4, 6)
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
        x = _leaf(4, 6)
        with autograd.record():
            y = net(x) ** 2
            (first,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
            penalty = (first**2).sum()
        penalty.backward()
        return [first.asnumpy(), x.grad.asnumpy(), *_gradients(net)]

    _both(_perceptron, run)


def test_autograd_grad_writes_nothing() -> None:
    net = _perceptron()
    net.hybridize()
    x = _leaf(4, 6)
    with autograd.record():
        y = net(x)
    (found,) = autograd.grad(y, [x])
    assert np.abs(found.asnumpy()).sum() > 0
    assert not np.any(x.grad.asnumpy())
    assert not any(np.any(g) for g in _gradients(net))


def _with_batch_norm() -> Any:
    return _net(nn.Dense(5, in_units=6), nn.BatchNorm(in_channels=5), nn.Activation("relu"), nn.Dense(2, in_units=5))


@pytest.mark.parametrize("train", [True, False])
def test_batch_norm_moves_its_statistics_once_a_backward_pass(train: bool) -> None:
    def run(net: Any) -> list[Any]:
        with autograd.record(train_mode=train):
            y = net(_array(4, 6))
        unmoved = _values(net)
        y.backward()
        return [y.asnumpy(), *unmoved, *_values(net), *_gradients(net)]

    _both(_with_batch_norm, run, calls=3)


def test_batch_norm_with_fixed_gamma_writes_ones() -> None:
    def run(net: Any) -> list[Any]:
        gamma = net[1].gamma
        gamma.set_data(nd.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        with autograd.record():
            y = net(_array(4, 6))
        y.backward()
        return [y.asnumpy(), gamma.data().asnumpy(), *_gradients(net)]

    make = lambda: _net(nn.Dense(5, in_units=6), nn.BatchNorm(scale=False, in_channels=5))  # noqa: E731
    _both(make, run)


def test_statistics_of_a_branch_that_takes_no_part_stay() -> None:
    class Branches(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = nn.BatchNorm(in_channels=6), nn.BatchNorm(in_channels=6)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.left(x), self.right(x)

    def make() -> Any:
        net = Branches()
        net.initialize()
        return net

    def run(net: Any) -> list[Any]:
        with autograd.record():
            left, _ = net(_array(4, 6))
        left.backward()
        return _values(net)

    _both(make, run, calls=3)


@pytest.mark.parametrize("retain", [False, True])
def test_dropout_draws_what_imperative_code_draws(retain: bool) -> None:
    def run(net: Any) -> list[Any]:
        mx.random.seed(3)
        x = _leaf(4, 6)
        found = []
        for _ in range(2):
            with autograd.record():
                y = net(x)
            y.backward(retain_graph=retain)
            found += [y.asnumpy(), x.grad.asnumpy(), *_gradients(net)]
        return found

    make = lambda: _net(nn.Dropout(0.5), nn.Dense(50, in_units=6), nn.Dropout(0.4), nn.Dense(2, in_units=50))  # noqa: E731
    _both(make, run)


def test_random_operators_draw_what_imperative_code_draws() -> None:
    def noisy(F: Any, x: Any) -> Any:
        return x * F.random.normal(shape=(3, 2)) + F.random.uniform_like(x)

    found = []
    for hybridize in (False, True):
        net = _Function(noisy)
        if hybridize:
            net.hybridize()
        x = _leaf(3, 2)
        for retain in (False, True):
            mx.random.seed(9)
            with autograd.record():
                y = net(x)
            y.backward(retain_graph=retain)
            found.append((y.asnumpy(), x.grad.asnumpy()))
    for pair in found[1:]:
        for wanted, value in zip(found[0], pair):
            np.testing.assert_array_equal(value, wanted)


def test_paused_parts_take_no_gradient() -> None:
    def partly(F: Any, x: Any) -> Any:
        with autograd.pause():
            scale = F.exp(x)
        return scale * x + F.BlockGrad(x) * x

    x = _leaf(3)
    net = _Function(partly)
    net.hybridize()
    with autograd.record():
        y = net(x)
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()) + x.asnumpy(), **_RTOL)


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
        net = _Function(function)
        if hybridize:
            net.hybridize()
        x = _leaf(3, 2)
        x.grad[:] = 5
        with autograd.record():
            y = net(x)
        y.backward()
        found.append((y.asnumpy(), x.grad.asnumpy()))
    for wanted, value in zip(*found):
        np.testing.assert_allclose(value, wanted, **_RTOL)


def test_an_output_that_depends_on_no_marked_array_is_not_on_the_tape() -> None:
    net = _Function(lambda F, x, y: (F.exp(x), F.exp(y)))
    net.hybridize()
    x, y = _leaf(3), _array(3, seed=1)
    with autograd.record():
        first, second = net(x, y)
    assert first._entry is not None and second._entry is None
    first.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()), **_RTOL)
    with autograd.record():
        assert net(y, y)[0]._entry is None


@pytest.mark.parametrize("reshape", [False, True])
def test_writing_into_an_input_before_the_backward_pass(reshape: bool) -> None:
    """The backward pass reads what the input holds by then; a value computed from it in the call stays."""

    def product(F: Any, x: Any, w: Any) -> Any:
        return (F.reshape(x, (3, 2)) if reshape else F.transpose(x)) * w

    found = []
    for hybridize in (False, True):
        net = _Function(product)
        if hybridize:
            net.hybridize()
        x, w = _leaf(2, 3), _leaf(3, 2, seed=1)
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
    net = _perceptron()
    net.hybridize()
    x = _leaf(4, 6)
    with autograd.record():
        y = net(x)
    net[0].weight.data()[:] = 0
    with pytest.raises(MXNetError, match="weight` was written after the hybridized call"):
        y.backward(retain_graph=True)
    y.backward()


def test_outputs_and_gradients_are_memory_of_their_own() -> None:
    net = _Function(lambda F, x: (F.reshape(x, (6,)), F.relu(x)))
    net.hybridize()
    x = _leaf(2, 3)
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
    net = _net(nn.Dense(300, activation="relu", in_units=6), nn.Dense(300, activation="sigmoid"), nn.Dense(2))
    x, other = _leaf(64, 6), _leaf(64, 6, seed=4)
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
        np.testing.assert_allclose(x.grad.asnumpy(), wanted[0], **_RTOL)
        np.testing.assert_allclose(other.grad.asnumpy(), wanted[1], **_RTOL)


def test_a_shared_parameter_sums_its_gradients() -> None:
    def make() -> Any:
        first = nn.Dense(6, in_units=6, activation="tanh")
        second = nn.Dense(6, in_units=6, params=first.params)
        return _net(first, second)

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(net(_array(4, 6)))
        y.backward()
        return _gradients(net)

    _both(make, run)


def test_an_imperative_block_with_hybridized_children() -> None:
    class Outer(gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.head = _perceptron(), nn.Dense(2, in_units=3)

        def forward(self, x: Any) -> Any:
            y = self.inner(x)
            return self.head(y) * (2 if y.sum().asscalar() > 0 else 3)

    def make() -> Any:
        net = Outer()
        net.initialize()
        return net

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(_array(4, 6))
        y.backward()
        return _gradients(net)

    _both(make, run)


def test_mixed_dtypes() -> None:
    def mixed(F: Any, x: Any, index: Any) -> Any:
        return F.cast(F.take(x, index), "float64") * 2

    x = _leaf(4, 3)
    index = nd.array([1, 1, 3], dtype="int32")
    net = _Function(mixed)
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
            y = net(_array(4, 6).astype(dtype))
        y.backward()
        return [y.asnumpy(), *_gradients(net)]

    _both(_perceptron, run, calls=1)


@pytest.mark.parametrize("inside", [False, True])
def test_the_loss_inside_or_outside_of_the_block(inside: bool) -> None:
    class WithLoss(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.loss = _perceptron(), gluon.loss.SoftmaxCrossEntropyLoss()

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.net(x)
            return self.loss(y, F.argmin(x, axis=1) % 3) if inside else y

    def make() -> Any:
        net = WithLoss()
        net.initialize(mx.init.Xavier())
        return net

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(_array(4, 6))
            loss = y if inside else net.loss(y, nd.array([0, 1, 2, 1]))
        loss.backward()
        return [loss.asnumpy(), *_gradients(net)]

    _both(make, run)


def test_the_graph_of_a_recorded_call_as_a_symbol() -> None:
    net = _Function(lambda F, x: F.exp(x) * x)
    net.hybridize()
    x = _leaf(3)
    with autograd.record():
        y = net(x) + 1
    symbol = autograd.get_symbol(y)
    assert len(symbol.list_arguments()) == 1
    assert "exp" in symbol.tojson()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(x.asnumpy()) * (1 + x.asnumpy()), **_RTOL)


def test_threads_have_buffers_of_their_own() -> None:
    net = _net(nn.Dense(200, activation="relu", in_units=6), nn.Dense(200, activation="tanh"), nn.Dense(1))
    net(_array(2, 6))
    net.collect_params().setattr("grad_req", "null")
    net.hybridize()
    inputs = [_leaf(64, 6, seed=seed) for seed in range(4)]
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


def test_training_gives_the_parameters_of_imperative_training() -> None:
    def run(net: Any) -> list[Any]:
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01})
        loss = gluon.loss.L2Loss()
        for step in range(5):
            with autograd.record():
                value = loss(net(_array(4, 6, seed=step)), _array(4, 2, seed=step))
            value.backward()
            trainer.step(4)
        return [value.asnumpy(), *_values(net)]

    _both(_with_batch_norm, run, calls=1)


def test_an_operator_that_fails_in_the_call_names_itself() -> None:
    net = _Function(lambda F, x, index: F.take(x, index, mode="raise"))
    net.hybridize()
    x = _leaf(3, 2)
    with autograd.record(), pytest.raises(MXNetError, match="take"):
        net(x, nd.array([7]))


def _plan_source(net: Any) -> str:
    (plan,) = next(iter(net._compiled.entries.values())).function._recorded._plans.values()
    return str(plan.code(plan.active).source)


def test_gradients_are_written_where_they_belong() -> None:
    net = _perceptron()
    net.hybridize()
    x = _leaf(4, 6)
    memory = [p.grad()._data for p in net.collect_params().values()]
    wanted = []
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
        wanted.append(_gradients(net))
    assert "memory_of_gradient" in _plan_source(net)
    assert all(p.grad()._data is m for p, m in zip(net.collect_params().values(), memory))
    for first, second in zip(*wanted):
        np.testing.assert_array_equal(first, second)
    # A leaf that also gets a gradient from elsewhere, before and after the call on the way back.
    weight = net[0].weight.data()
    with autograd.record():
        loss = net(x).sum() + (weight * 2).sum()
    loss.backward()
    np.testing.assert_allclose(net[0].weight.grad().asnumpy(), _of(net, x) + 2, **_RTOL)
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
    net = _Function(lambda F, x, g, w: F.dot(F.dot(x, g) * 2, w))
    net.hybridize()
    w = _leaf(3, 3)
    x = _leaf(3, 3, seed=1)
    w.grad[:] = _array(3, 3, seed=2)
    kept = w.grad.asnumpy()
    for _ in range(2):
        w.grad[:] = nd.array(kept)
        with autograd.record():
            y = net(x, w.grad, w)
        y.backward()
        np.testing.assert_allclose(w.grad.asnumpy(), (x.asnumpy() @ kept * 2).T @ np.ones((3, 3)), **_RTOL)
        np.testing.assert_allclose(x.grad.asnumpy(), np.ones((3, 3)) @ w.asnumpy().T @ kept.T * 2, **_RTOL)
    w.grad[:] = nd.array(kept)
    with autograd.record():
        y = net(x, nd.array(kept), w)
    y.backward(w.grad)
    np.testing.assert_allclose(w.grad.asnumpy(), (x.asnumpy() @ kept * 2).T @ kept, **_RTOL)


def test_one_array_given_twice_gets_both_gradients() -> None:
    net = _Function(lambda F, x, y: F.dot(x, y))
    net.hybridize()
    x = _leaf(3, 3)
    with autograd.record():
        y = net(x, x)
    y.backward()
    ones = np.ones((3, 3))
    np.testing.assert_allclose(x.grad.asnumpy(), ones @ x.asnumpy().T + x.asnumpy().T @ ones, **_RTOL)


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("stride", [2, 3])
def test_relu_before_max_pooling(kernel: int, stride: int) -> None:
    """Its mask moves behind the pooling; ties and windows without a positive number included."""
    values = np.random.RandomState(3).randint(-2, 3, (2, 3, 7, 8)).astype("float32")
    found = []
    for hybridize in (False, True):
        net = _net(nn.Activation("relu"), nn.MaxPool2D(kernel, stride))
        if hybridize:
            net.hybridize()
        x = nd.array(values)
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward(nd.array(np.arange(1, y.size + 1).reshape(y.shape), dtype="float32"))
        found.append((y.asnumpy(), x.grad.asnumpy()))
    assert _plan_source(net).index("greater(pooling") < _plan_source(net).index("max_to_data(")
    for wanted, value in zip(*found):
        np.testing.assert_array_equal(value, wanted)


def test_large_arrays_are_worked_on_in_pieces_on_both_sides_of_the_call() -> None:
    """Loops over pieces do not reach from the forward into the backward pass."""
    net = _Function(lambda F, x: F.exp(F.sin(x) * 2) + 1)
    net.hybridize()
    x = _leaf(300, 1000)
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward(x)
        value = x.asnumpy()
        wanted = np.exp(np.sin(value) * 2) * 2 * np.cos(value) * value
        np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert "for start" in _plan_source(net)


@pytest.mark.parametrize("size", [12, 28])
def test_a_convolutional_net_trains_as_imperatively(size: int) -> None:
    def make() -> Any:
        return _net(
            nn.Conv2D(8, 5, in_channels=6, activation="relu"), nn.MaxPool2D(2, 2), nn.BatchNorm(in_channels=8),
            nn.Conv2D(6, 3, padding=1, in_channels=8), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dense(3),
        )  # fmt: skip

    x = _array(5, 6, size, size)
    nets = [make(), make()]
    for net in nets:
        net(x)
    for source, target in zip(nets[0].collect_params().values(), nets[1].collect_params().values()):
        target.set_data(source.data())
    nets[1].hybridize()
    results = []
    for net in nets:
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        for _ in range(3):
            with autograd.record():
                loss = gluon.loss.SoftmaxCELoss()(net(x), nd.array([0, 1, 2, 1, 0]))
            loss.backward()
            trainer.step(5)
        results.append([loss.asnumpy(), *_gradients(net), *_values(net)])
    for wanted, found in zip(*results):
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)


def test_graphs_that_are_always_retained_go_on_the_tape_at_once() -> None:
    net = _perceptron()
    net.hybridize()
    x = _leaf(4, 6)
    compiled, gradients = [], []
    for step in range(40):
        with autograd.record():
            y = net(x)
        compiled.append(_is_compiled(y))
        y.backward(retain_graph=step < 30)
        gradients.append(x.grad.asnumpy())
    assert compiled[:2] == [True, True] and sum(compiled[:30]) < 8  # tried again after ever longer rests
    for found in gradients[1:]:
        np.testing.assert_array_equal(found, gradients[0])


@pytest.mark.parametrize("make", [_perceptron, _with_batch_norm])
def test_exact_gradients_are_those_of_imperative_code_bit_for_bit(make: Callable[[], Any]) -> None:
    nets = [make(), make()]
    for net in nets:
        net(_array(4, 6))
    for source, target in zip(nets[0].collect_params().values(), nets[1].collect_params().values()):
        target.set_data(source.data())
    nets[1].hybridize(exact=True)
    results = []
    for net in nets:
        x = _leaf(4, 6)
        with autograd.record():
            y = net(x)
        y.backward(nd.array(np.arange(y.size).reshape(y.shape), dtype="float32"))
        results.append([y.asnumpy(), x.grad.asnumpy(), *_gradients(net), *_values(net)])
    for wanted, found in zip(*results):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [(1, 2), (2, 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("record", [False, True])
def test_results_of_pooling_outlive_later_calls(kernel: tuple[int, int], record: bool) -> None:
    net = _net(nn.MaxPool2D(kernel, kernel))
    net.hybridize()
    x = _leaf(2, 3, 40, 60)
    with autograd.record() if record else autograd.pause():
        first = net(x)
        wanted = first.asnumpy()
        second = net(x + 1)
    np.testing.assert_array_equal(first.asnumpy(), wanted)
    np.testing.assert_allclose(second.asnumpy(), wanted + 1, rtol=1e-6)
    net.hybridize(False)
    np.testing.assert_array_equal(net(x).asnumpy(), wanted)
