"""ResNet-18 (v1) of the model zoo on a batch of eight images of 224 x 224."""

from __future__ import annotations

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, inference


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return inference(framework, lambda mx: mx.gluon.model_zoo.vision.resnet18_v1(), [images(8, 224)])


if __name__ == "__main__":
    run("resnet18_b8", __doc__)
