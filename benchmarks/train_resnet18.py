"""One training step (record, backward, SGD with momentum) of ResNet-18 (v1) on four images of 224 x 224."""

from __future__ import annotations

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, training


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return training(framework, lambda mx: mx.gluon.model_zoo.vision.resnet18_v1(classes=10), images(4, 224))


if __name__ == "__main__":
    run("train_resnet18", __doc__)
