"""Eight element-wise operators over eight million numbers: sigmoid(x) * tanh(x) + exp(-x * x) - 0.5 * x."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, inference

SIZE = 8 * 1024 * 1024


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""

    def net(mx: Any) -> Any:
        class Chain(mx.gluon.HybridBlock):  # type: ignore[misc]
            def hybrid_forward(self, F: Any, x: Any) -> Any:
                return F.sigmoid(x) * F.tanh(x) + F.exp(-x * x) - 0.5 * x

        return Chain()

    return inference(framework, net, [np.random.RandomState(1).uniform(-3, 3, (SIZE // 1024, 1024)).astype("float32")])


if __name__ == "__main__":
    run("elementwise_chain", __doc__)
