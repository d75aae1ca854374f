"""LeNet (two convolutions of 5 x 5, two dense layers) on one image of 28 x 28."""

from __future__ import annotations

from typing import Any

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, inference


def lenet(mx: Any) -> Any:
    """The net."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2),
        nn.Conv2D(50, 5, activation="relu"), nn.MaxPool2D(2, 2),
        nn.Dense(500, activation="relu"), nn.Dense(10),
    )  # fmt: skip
    return net


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return inference(framework, lenet, [images(1, 28, 1)])


if __name__ == "__main__":
    run("lenet", __doc__)
