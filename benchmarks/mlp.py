"""The tutorial's perceptron (512-256-128-2) at batch 1: one hybridized call.

python -m benchmarks.mlp --mxnet PYTHON_WITH_MXNET [--threads 1] [--json FILE]
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, inference

SIZES = (512, 256, 128, 2)
BATCH = 1


def perceptron(mx: Any) -> Any:
    """The net."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(*[nn.Dense(size, activation="relu") for size in SIZES[1:-1]], nn.Dense(SIZES[-1]))
    return net


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return at_batch(framework, BATCH)


def at_batch(framework: str, batch: int) -> Workload:
    """The same at any batch size."""
    x = np.random.RandomState(1).uniform(-1, 1, (batch, SIZES[0])).astype("float32")
    if framework == "numpy":
        return by_hand(x)
    return inference(framework, perceptron, [x])


def by_hand(x: Any) -> Workload:
    """The same net in plain NumPy, with transposed weights: what a call costs without a framework."""
    state = np.random.RandomState(0)  # as in `gluon.fill`
    transposed = []
    for width, units in pairwise(SIZES):
        weight = state.uniform(-1, 1, (units, width)) * math.sqrt(3 / width)
        bias = state.uniform(-0.1, 0.1, units)
        transposed.append((np.ascontiguousarray(weight.T.astype("float32")), bias.astype("float32")))

    def call() -> Any:
        h = x
        for weight, bias in transposed[:-1]:
            h = np.maximum(h.dot(weight) + bias, 0)
        return h.dot(transposed[-1][0]) + transposed[-1][1]

    return call, lambda: call().ravel().tolist()


if __name__ == "__main__":
    run("mlp", __doc__)
