"""One training step (record, backward, SGD with momentum) of the perceptron 512-256-128-10 at batch 128."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, training


def perceptron(mx: Any) -> Any:
    """The net."""
    net = mx.gluon.nn.HybridSequential()
    net.add(*[mx.gluon.nn.Dense(n, activation="relu") for n in (256, 128)], mx.gluon.nn.Dense(10))
    return net


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return training(framework, perceptron, np.random.RandomState(1).uniform(-1, 1, (128, 512)).astype("float32"))


if __name__ == "__main__":
    run("train_mlp", __doc__)
