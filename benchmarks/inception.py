"""Inception-v3 of the model zoo on one image of 299 x 299."""

from __future__ import annotations

from benchmarks.contest import run
from benchmarks.gluon import Workload, images, inference


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return inference(framework, lambda mx: mx.gluon.model_zoo.vision.inception_v3(), [images(1, 299)])


if __name__ == "__main__":
    run("inception", __doc__)
