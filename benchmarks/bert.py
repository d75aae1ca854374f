"""The encoder of BERT-base (12 layers of 768, 12 heads) on one sequence of 128."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.contest import run
from benchmarks.gluon import Workload, inference

LAYERS, UNITS, HEADS, HIDDEN, LENGTH = 12, 768, 12, 3072, 128


def encoder(mx: Any) -> Any:
    """The stack of layers."""
    nn = mx.gluon.nn

    class Layer(nn.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.query, self.key, self.value, self.project = (nn.Dense(UNITS, flatten=False) for _ in range(4))
                self.inner = nn.Dense(HIDDEN, flatten=False)
                self.gelu = nn.GELU()
                self.outer = nn.Dense(UNITS, flatten=False)
                self.norm_attention, self.norm = nn.LayerNorm(), nn.LayerNorm()
                self.dropout = nn.Dropout(0.1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            q, k, v = (self.split(F, part(x)) for part in (self.query, self.key, self.value))
            scores = F.batch_dot(q / math.sqrt(UNITS // HEADS), k, transpose_b=True)
            attended = F.batch_dot(self.dropout(F.softmax(scores)), v)
            attended = F.transpose(F.reshape(attended, (-1, HEADS, 0, 0), reverse=True), (0, 2, 1, 3))
            attended = F.reshape(attended, (0, 0, -1))
            x = self.norm_attention(x + self.dropout(self.project(attended)))
            return self.norm(x + self.dropout(self.outer(self.gelu(self.inner(x)))))

        def split(self, F: Any, x: Any) -> Any:
            """(batch, length, units) as (batch * heads, length, units / heads)."""
            x = F.transpose(F.reshape(x, (0, 0, HEADS, -1)), (0, 2, 1, 3))
            return F.reshape(x, (-1, 0, 0), reverse=True)

    net = nn.HybridSequential()
    for _ in range(LAYERS):
        net.add(Layer())
    return net


def make(framework: str, threads: int) -> Workload:
    """The call to time, and the numbers it computes."""
    x = np.random.RandomState(1).uniform(-1, 1, (1, LENGTH, UNITS)).astype("float32")
    return inference(framework, encoder, [x])


if __name__ == "__main__":
    run("bert", __doc__)
