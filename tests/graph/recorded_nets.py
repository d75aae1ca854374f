"""Blocks, arrays and comparisons that the tests of recorded calls share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autohybrid as mx
from autohybrid import gluon, nd
from autohybrid.gluon import nn
from autohybrid.graph.recorded_call import RecordedCall

TOLERANCE = {"rtol": 2e-5, "atol": 1e-6}


class Function(gluon.HybridBlock):
    """A block without parameters around a function of `F` and its inputs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def hybrid_forward(self, F: Any, *inputs: Any) -> Any:
        return self._function(F, *inputs)


def uniform(*shape: int, seed: int = 0) -> nd.NDArray:
    return nd.array(np.random.RandomState(seed).uniform(-1, 1, shape), dtype="float32")


def leaf(*shape: int, seed: int = 0, grad_req: str = "write") -> nd.NDArray:
    array = uniform(*shape, seed=seed)
    array.attach_grad(grad_req)
    return array


def make_net(*layers: Any) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(*layers)
    net.initialize(mx.init.Xavier())
    return net


def is_compiled(output: Any) -> bool:
    return output._entry is not None and isinstance(output._entry[0], RecordedCall)


def compare(make: Callable[[], Any], run: Callable[[Any], list[Any]], calls: int = 2) -> None:
    """`run(net)` gives the same arrays on an imperative net as on a hybridized one with the same parameters."""
    imperative, hybridized = make(), make()
    imperative(uniform(4, 6)), hybridized(uniform(4, 6))
    for source, target in zip(imperative.collect_params().values(), hybridized.collect_params().values()):
        target.set_data(source.data())
    hybridized.hybridize()
    for _ in range(calls):
        for wanted, found in zip(run(imperative), run(hybridized)):
            np.testing.assert_allclose(found, wanted, **TOLERANCE)


def parameter_gradients(net: Any) -> list[Any]:
    return [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]


def parameter_values(net: Any) -> list[Any]:
    return [p.data().asnumpy() for p in net.collect_params().values()]


def perceptron() -> Any:
    return make_net(nn.Dense(5, activation="relu", in_units=6), nn.Dense(3, activation="tanh", in_units=5))


def with_batch_norm() -> Any:
    return make_net(
        nn.Dense(5, in_units=6), nn.BatchNorm(in_channels=5), nn.Activation("relu"), nn.Dense(2, in_units=5)
    )


def plan_source(net: Any) -> str:
    (plan,) = next(iter(net._compiled.entries.values())).function._recorded._plans.values()
    return str(plan.code(plan.active).source)
