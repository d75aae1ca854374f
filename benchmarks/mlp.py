"""The tutorial's perceptron (512-256-128-2) at batch 1: one hybridized call.

python -m benchmarks.mlp --mxnet PYTHON_WITH_MXNET [--threads 1] [--json FILE]
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import load

SIZES = (512, 256, 128, 2)
BATCH = 1


def arrays() -> tuple[np.ndarray[Any, Any], list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]]:
    """The input, and weight and bias of each layer; the same for every contender."""
    state = np.random.RandomState(0)
    x = state.uniform(-1, 1, (BATCH, SIZES[0])).astype("float32")
    layers = [
        (state.uniform(-0.1, 0.1, (n, m)).astype("float32"), state.uniform(-0.1, 0.1, n).astype("float32"))
        for m, n in pairwise(SIZES)
    ]
    return x, layers


def make(framework: str, threads: int) -> tuple[Callable[[], object], Callable[[], list[float]]]:
    """The call to time, and the numbers it computes."""
    x, layers = arrays()
    if framework == "numpy":
        return by_hand(x, layers)
    return _gluon(framework, x, layers)


def _gluon(framework: str, x: Any, layers: Any) -> tuple[Callable[[], object], Callable[[], list[float]]]:
    mx = load(framework)
    net = mx.gluon.nn.HybridSequential()
    for i, size in enumerate(SIZES[1:]):
        net.add(mx.gluon.nn.Dense(size, activation="relu" if i < len(SIZES) - 2 else None))
    net.initialize()
    data = mx.nd.array(x)
    net(data)
    for layer, (weight, bias) in zip(net, layers):
        layer.weight.set_data(mx.nd.array(weight))
        layer.bias.set_data(mx.nd.array(bias))
    static = framework == "mxnet-static"
    net.hybridize(static_alloc=static, static_shape=static)
    for _ in range(3):
        net(data).wait_to_read()
    return lambda: net(data).wait_to_read(), lambda: net(data).asnumpy().ravel().tolist()


def by_hand(x: Any, layers: Any) -> tuple[Callable[[], object], Callable[[], list[float]]]:
    """The same net in plain NumPy, with transposed weights: what a call costs without a framework."""

    transposed = [(np.ascontiguousarray(w.T), b) for w, b in layers]

    def call() -> Any:
        h = x
        for weight, bias in transposed[:-1]:
            h = np.maximum(h.dot(weight) + bias, 0)
        return h.dot(transposed[-1][0]) + transposed[-1][1]

    return call, lambda: call().ravel().tolist()


if __name__ == "__main__":
    run("mlp", __doc__)
