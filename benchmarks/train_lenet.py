"""One training step (record, backward, SGD with momentum) of LeNet on 32 images of 28 x 28."""

from __future__ import annotations

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, training
from benchmarks.lenet import lenet


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return training(framework, lenet, images(32, 28, 1))


if __name__ == "__main__":
    run("train_lenet", __doc__)
