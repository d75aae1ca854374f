"""MobileNet (v1) of the model zoo on one image of 224 x 224."""

from __future__ import annotations

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, inference


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return inference(framework, lambda mx: mx.gluon.model_zoo.vision.mobilenet1_0(), [images(1, 224)])


if __name__ == "__main__":
    run("mobilenet_v1", __doc__)
