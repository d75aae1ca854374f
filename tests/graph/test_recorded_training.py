"""Training through recorded calls: statistics, random layers, losses and whole nets learn as imperatively."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph.recorded_nets import (
    Function,
    compare,
    leaf,
    make_net,
    parameter_gradients,
    parameter_values,
    perceptron,
    plan_source,
    uniform,
    with_batch_norm,
)

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.gluon import nn


@pytest.mark.parametrize("train", [True, False])
def test_batch_norm_moves_its_statistics_once_a_backward_pass(train: bool) -> None:
    def run(net: Any) -> list[Any]:
        with autograd.record(train_mode=train):
            y = net(uniform(4, 6))
        unmoved = parameter_values(net)
        y.backward()
        return [y.asnumpy(), *unmoved, *parameter_values(net), *parameter_gradients(net)]

    compare(with_batch_norm, run, calls=3)


def test_batch_norm_with_fixed_gamma_writes_ones() -> None:
    def run(net: Any) -> list[Any]:
        gamma = net[1].gamma
        gamma.set_data(nd.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        with autograd.record():
            y = net(uniform(4, 6))
        y.backward()
        return [y.asnumpy(), gamma.data().asnumpy(), *parameter_gradients(net)]

    make = lambda: make_net(nn.Dense(5, in_units=6), nn.BatchNorm(scale=False, in_channels=5))  # noqa: E731
    compare(make, run)


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
            left, _ = net(uniform(4, 6))
        left.backward()
        return parameter_values(net)

    compare(make, run, calls=3)


@pytest.mark.parametrize("retain", [False, True])
def test_dropout_draws_what_imperative_code_draws(retain: bool) -> None:
    def run(net: Any) -> list[Any]:
        mx.random.seed(3)
        x = leaf(4, 6)
        found = []
        for _ in range(2):
            with autograd.record():
                y = net(x)
            y.backward(retain_graph=retain)
            found += [y.asnumpy(), x.grad.asnumpy(), *parameter_gradients(net)]
        return found

    make = lambda: make_net(nn.Dropout(0.5), nn.Dense(50, in_units=6), nn.Dropout(0.4), nn.Dense(2, in_units=50))  # noqa: E731
    compare(make, run)


def test_random_operators_draw_what_imperative_code_draws() -> None:
    def noisy(F: Any, x: Any) -> Any:
        return x * F.random.normal(shape=(3, 2)) + F.random.uniform_like(x)

    found = []
    for hybridize in (False, True):
        net = Function(noisy)
        if hybridize:
            net.hybridize()
        x = leaf(3, 2)
        for retain in (False, True):
            mx.random.seed(9)
            with autograd.record():
                y = net(x)
            y.backward(retain_graph=retain)
            found.append((y.asnumpy(), x.grad.asnumpy()))
    for pair in found[1:]:
        for wanted, value in zip(found[0], pair):
            np.testing.assert_array_equal(value, wanted)


def test_an_imperative_block_with_hybridized_children() -> None:
    class Outer(gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.head = perceptron(), nn.Dense(2, in_units=3)

        def forward(self, x: Any) -> Any:
            y = self.inner(x)
            return self.head(y) * (2 if y.sum().asscalar() > 0 else 3)

    def make() -> Any:
        net = Outer()
        net.initialize()
        return net

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(uniform(4, 6))
        y.backward()
        return parameter_gradients(net)

    compare(make, run)


@pytest.mark.parametrize("inside", [False, True])
def test_the_loss_inside_or_outside_of_the_block(inside: bool) -> None:
    class WithLoss(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.loss = perceptron(), gluon.loss.SoftmaxCrossEntropyLoss()

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.net(x)
            return self.loss(y, F.argmin(x, axis=1) % 3) if inside else y

    def make() -> Any:
        net = WithLoss()
        net.initialize(mx.init.Xavier())
        return net

    def run(net: Any) -> list[Any]:
        with autograd.record():
            y = net(uniform(4, 6))
            loss = y if inside else net.loss(y, nd.array([0, 1, 2, 1]))
        loss.backward()
        return [loss.asnumpy(), *parameter_gradients(net)]

    compare(make, run)


def test_training_gives_the_parameters_of_imperative_training() -> None:
    def run(net: Any) -> list[Any]:
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01})
        loss = gluon.loss.L2Loss()
        for step in range(5):
            with autograd.record():
                value = loss(net(uniform(4, 6, seed=step)), uniform(4, 2, seed=step))
            value.backward()
            trainer.step(4)
        return [value.asnumpy(), *parameter_values(net)]

    compare(with_batch_norm, run, calls=1)


@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("stride", [2, 3])
def test_relu_before_max_pooling(kernel: int, stride: int) -> None:
    """Its mask moves behind the pooling; ties and windows without a positive number included."""
    values = np.random.RandomState(3).randint(-2, 3, (2, 3, 7, 8)).astype("float32")
    found = []
    for hybridize in (False, True):
        net = make_net(nn.Activation("relu"), nn.MaxPool2D(kernel, stride))
        if hybridize:
            net.hybridize()
        x = nd.array(values)
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward(nd.array(np.arange(1, y.size + 1).reshape(y.shape), dtype="float32"))
        found.append((y.asnumpy(), x.grad.asnumpy()))
    assert plan_source(net).index("greater(pooling") < plan_source(net).index("max_to_data(")
    for wanted, value in zip(*found):
        np.testing.assert_array_equal(value, wanted)


def test_large_arrays_are_worked_on_in_pieces_on_both_sides_of_the_call() -> None:
    """Loops over pieces do not reach from the forward into the backward pass."""
    net = Function(lambda F, x: F.exp(F.sin(x) * 2) + 1)
    net.hybridize()
    x = leaf(300, 1000)
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward(x)
        value = x.asnumpy()
        wanted = np.exp(np.sin(value) * 2) * 2 * np.cos(value) * value
        np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert "for start" in plan_source(net)


@pytest.mark.parametrize("size", [12, 28])
def test_a_convolutional_net_trains_as_imperatively(size: int) -> None:
    def make() -> Any:
        return make_net(
            nn.Conv2D(8, 5, in_channels=6, activation="relu"), nn.MaxPool2D(2, 2), nn.BatchNorm(in_channels=8),
            nn.Conv2D(6, 3, padding=1, in_channels=8), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dense(3),
        )  # fmt: skip

    x = uniform(5, 6, size, size)
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
        results.append([loss.asnumpy(), *parameter_gradients(net), *parameter_values(net)])
    for wanted, found in zip(*results):
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)
