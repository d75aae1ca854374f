"""The perceptron 512-256-128-2 at batch 128: one hybridized call."""

from __future__ import annotations

from benchmarks import mlp
from benchmarks.contest import run
from benchmarks.gluon import Workload


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    return mlp.at_batch(framework, 128)


if __name__ == "__main__":
    run("mlp_b128", __doc__)
