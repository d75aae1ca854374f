"""A multi-layer perceptron that reads handwritten digits: `python examples/train_mlp_digits.py`."""

from __future__ import annotations

from collections.abc import Sequence

from digits import train_classifier
from reporting import run

from autohybrid.gluon import HybridBlock, nn


def make_net() -> HybridBlock:
    """Three dense layers with dropout, 64 inputs, ten outputs."""
    net = nn.HybridSequential()
    net.add(
        nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dropout(0.2), nn.Dense(32, activation="relu"), nn.Dense(10)
    )
    return net


def train(hybridize: bool, epochs: int, limit: int, seed: int) -> list[float]:
    """The losses of a training."""
    return train_classifier(make_net, hybridize, epochs, limit, seed)


def main(argv: Sequence[str] | None = None) -> list[list[float]]:
    """Train as the command line says."""
    return run("Train a multi-layer perceptron on handwritten digits.", train, argv, epochs=5)


if __name__ == "__main__":
    main()
