"""A small LeNet that reads handwritten digits: `python examples/train_lenet_digits.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from digits import train_classifier
from reporting import run

from autohybrid.gluon import HybridBlock, nn


class LeNet(HybridBlock):
    """Two convolutions with batch normalization and pooling, then two dense layers; written as a `hybrid_forward`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.conv1 = nn.Conv2D(16, kernel_size=3, padding=1)
            self.norm1 = nn.BatchNorm()
            self.conv2 = nn.Conv2D(32, kernel_size=3, padding=1)
            self.norm2 = nn.BatchNorm()
            self.hidden = nn.Dense(64, activation="relu")
            self.classes = nn.Dense(10)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
        return self.classes(self.hidden(x))


def train(hybridize: bool, epochs: int, limit: int, seed: int) -> list[float]:
    """The losses of a training."""
    return train_classifier(LeNet, hybridize, epochs, limit, seed)


def main(argv: Sequence[str] | None = None) -> list[list[float]]:
    """Train as the command line says."""
    return run("Train a small LeNet on handwritten digits.", train, argv)


if __name__ == "__main__":
    main()
