"""SqueezeNet (Iandola 2016): fire modules that squeeze to few channels and expand by 1 x 1 and 3 x 3 convolutions."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.contrib.nn import HybridConcurrent
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, variant, with_parameters

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

#: Version -> first convolution (channels, kernel), then fire modules by squeezed channels; None is a pooling.
_VERSIONS: dict[str, tuple[tuple[int, int], tuple[int | None, ...]]] = {
    "1.0": ((96, 7), (None, 16, 16, 32, None, 32, 48, 48, 64, None, 64)),
    "1.1": ((64, 3), (None, 16, 16, None, 32, 32, None, 48, 48, 64, 64)),
}


class SqueezeNet(Classifier):
    """Version '1.0' or '1.1'. Raises AssertionError for another."""

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in _VERSIONS:
            raise AssertionError(f"SqueezeNet has the versions '1.0' and '1.1', not {version!r}")
        (channels, kernel), modules = _VERSIONS[version]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(channels, kernel_size=kernel, strides=2), nn.Activation("relu"))
            for squeezed in modules:
                if squeezed is None:
                    self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True))
                else:
                    self.features.add(_fire(squeezed))
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(nn.Conv2D(classes, kernel_size=1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten())


def _fire(squeezed: int) -> nn.HybridSequential:
    module = nn.HybridSequential(prefix="")
    module.add(_convolution(squeezed, 1, 0))
    expand = HybridConcurrent(axis=1, prefix="")
    expand.add(_convolution(4 * squeezed, 1, 0), _convolution(4 * squeezed, 3, 1))
    module.add(expand)
    return module


def _convolution(channels: int, kernel: int, padding: int) -> nn.HybridSequential:
    stack = nn.HybridSequential(prefix="")
    stack.add(nn.Conv2D(channels, kernel, padding=(padding, padding)), nn.Activation("relu"))
    return stack


def get_squeezenet(
    version: str, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> SqueezeNet:
    """SqueezeNet '1.0' or '1.1'; `pretrained` loads the published parameters from `root`, or the network."""
    net = SqueezeNet(version, **kwargs)
    return with_parameters(net, pretrained, f"squeezenet{version}", ctx, root)  # type: ignore[no-any-return]


squeezenet1_0 = variant(get_squeezenet, "squeezenet1_0", "SqueezeNet 1.0.", "1.0")
squeezenet1_1 = variant(get_squeezenet, "squeezenet1_1", "SqueezeNet 1.1.", "1.1")
