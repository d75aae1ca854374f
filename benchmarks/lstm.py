"""A fused LSTM of two layers of 256 units over 64 steps at batch 16."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, inference

STEPS, BATCH, UNITS = 64, 16, 256


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""

    def net(mx: Any) -> Any:
        return mx.gluon.rnn.LSTM(UNITS, 2, input_size=UNITS)

    x = np.random.RandomState(1).uniform(-1, 1, (STEPS, BATCH, UNITS)).astype("float32")
    return inference(framework, net, [x])


if __name__ == "__main__":
    run("lstm", __doc__)
