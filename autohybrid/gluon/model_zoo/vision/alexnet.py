"""AlexNet (Krizhevsky 2014, "One weird trick")."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, with_parameters

__all__ = ["AlexNet", "alexnet"]

#: Channels, kernel, stride, padding of the convolutions; None is a max-pooling of 3 with stride 2.
_LAYERS = ((64, 11, 4, 2), None, (192, 5, 1, 2), None, (384, 3, 1, 1), (256, 3, 1, 1), (256, 3, 1, 1), None)


class AlexNet(Classifier):
    """Five convolutions and three dense layers, for images of 224."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            for layer in _LAYERS:
                if layer is None:
                    self.features.add(nn.MaxPool2D(pool_size=3, strides=2))
                else:
                    channels, kernel, stride, padding = layer
                    self.features.add(nn.Conv2D(channels, kernel, _pair(stride), _pair(padding), activation="relu"))
            self.features.add(nn.Flatten())
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu"), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def _pair(value: int) -> tuple[int, int]:
    return (value, value)


def alexnet(pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any) -> AlexNet:
    """AlexNet; `pretrained` loads the published parameters from `root`, or the network."""
    return with_parameters(AlexNet(**kwargs), pretrained, "alexnet", ctx, root)  # type: ignore[no-any-return]
