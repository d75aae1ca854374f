"""A small Transformer that learns to sort: `python examples/train_transformer.py`.

It reads eight numbers at once and gives, for each place, the number that belongs there when they are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from reporting import batches, run

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.gluon import nn

_NUMBERS, _PLACES, _ROWS, _BATCHES = 16, 8, 64, 100


class SelfAttention(gluon.HybridBlock):
    """Every place looks at all places, with several heads: (rows, places, width) to the same shape."""

    def __init__(self, width: int, heads: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._heads = heads
        self._scale = 1 / math.sqrt(width // heads)
        with self.name_scope():
            self.query = nn.Dense(width, flatten=False, in_units=width)
            self.key = nn.Dense(width, flatten=False, in_units=width)
            self.value = nn.Dense(width, flatten=False, in_units=width)
            self.output = nn.Dense(width, flatten=False, in_units=width)

    def _split(self, F: Any, x: Any) -> Any:
        """(rows, places, width) to (rows * heads, places, width / heads)."""
        x = F.reshape(x, shape=(0, 0, -4, self._heads, -1))
        return F.reshape(F.transpose(x, axes=(0, 2, 1, 3)), shape=(-3, 0, 0))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        query, key, value = self._split(F, self.query(x)), self._split(F, self.key(x)), self._split(F, self.value(x))
        weights = F.softmax(F.batch_dot(query, key, transpose_b=True) * self._scale, axis=-1)
        mixed = F.reshape(F.batch_dot(weights, value), shape=(-4, -1, self._heads, 0, 0))
        return self.output(F.reshape(F.transpose(mixed, axes=(0, 2, 1, 3)), shape=(0, 0, -3)))


class Layer(gluon.HybridBlock):
    """Attention and two dense layers, each added to its normalized input."""

    def __init__(self, width: int, heads: int, dropout: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.norm1 = nn.LayerNorm(in_channels=width)
            self.attention = SelfAttention(width, heads)
            self.norm2 = nn.LayerNorm(in_channels=width)
            self.dense1 = nn.Dense(2 * width, flatten=False, in_units=width)
            self.dense2 = nn.Dense(width, flatten=False, in_units=2 * width)
            self.dropout = nn.Dropout(dropout)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = x + self.dropout(self.attention(self.norm1(x)))
        hidden = F.LeakyReLU(self.dense1(self.norm2(x)), act_type="gelu")
        return x + self.dropout(self.dense2(hidden))


class Sorter(gluon.HybridBlock):
    """Numbers (rows, places) to scores (rows, places, numbers)."""

    def __init__(self, width: int = 32, heads: int = 4, layers: int = 2, dropout: float = 0.05, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.numbers = nn.Embedding(_NUMBERS, width)
            self.places = nn.Embedding(_PLACES, width)
            self.layers = nn.HybridSequential()
            for _ in range(layers):
                self.layers.add(Layer(width, heads, dropout))
            self.norm = nn.LayerNorm(in_channels=width)
            self.scores = nn.Dense(_NUMBERS, flatten=False, in_units=width)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        place = F.contrib.arange_like(x, axis=1)
        hidden = F.broadcast_add(self.numbers(x), F.expand_dims(self.places(place), axis=0))
        return self.scores(self.norm(self.layers(hidden)))


def train(hybridize: bool, epochs: int, limit: int, seed: int) -> list[float]:
    """The mean loss a place of each batch; prints how often whole rows are sorted right at the end."""
    mx.random.seed(seed)
    draw = np.random.default_rng(seed)
    net = Sorter()
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    steps = epochs * (limit or _BATCHES)
    schedule = mx.lr_scheduler.CosineScheduler(max(steps, 2), base_lr=0.003, final_lr=0.0003, warmup_steps=1)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003, "lr_scheduler": schedule})
    losses = []
    for epoch in range(epochs):
        for _ in batches(limit or _BATCHES, f"epoch {epoch + 1}"):
            rows = draw.integers(0, _NUMBERS, (_ROWS, _PLACES)).astype("float32")
            numbers, wanted = nd.array(rows), nd.array(np.sort(rows, axis=1))
            with autograd.record():
                loss = loss_function(net(numbers), wanted)
            loss.backward()
            trainer.step(_ROWS)
            losses.append(float(loss.mean().asscalar()))
    rows = draw.integers(0, _NUMBERS, (256, _PLACES)).astype("float32")
    sorted_rows = net(nd.array(rows)).argmax(axis=-1).asnumpy()
    print(f"rows sorted without a mistake: {(sorted_rows == np.sort(rows, axis=1)).all(axis=1).mean():.3f}")
    return losses


def main(argv: Sequence[str] | None = None) -> list[list[float]]:
    """Train as the command line says."""
    return run("Train a small Transformer to sort numbers.", train, argv, epochs=8)


if __name__ == "__main__":
    main()
