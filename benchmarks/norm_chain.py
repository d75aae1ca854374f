"""GELU, LayerNorm and softmax one after the other over eight million numbers (8192 rows of 1024)."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, inference

ROWS, COLUMNS = 8192, 1024


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""

    def net(mx: Any) -> Any:
        class Chain(mx.gluon.HybridBlock):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                with self.name_scope():
                    self.gelu, self.norm = mx.gluon.nn.GELU(), mx.gluon.nn.LayerNorm()

            def hybrid_forward(self, F: Any, x: Any) -> Any:
                return F.softmax(self.norm(self.gelu(x)))

        return Chain()

    return inference(framework, net, [np.random.RandomState(1).uniform(-3, 3, (ROWS, COLUMNS)).astype("float32")])


if __name__ == "__main__":
    run("norm_chain", __doc__)
