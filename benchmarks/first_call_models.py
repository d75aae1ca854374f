"""Nets as users write them, for `first_call.py`: an MLP and a ResNet-50 of blocks of their own, with MXNet's names."""

from __future__ import annotations

from typing import Any

from mxnet.gluon import nn
from mxnet.gluon.block import HybridBlock


class MLP(HybridBlock):
    """A perceptron with two hidden layers."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(256, in_units=128)
            self.second = nn.Dense(128, in_units=256)
            self.out = nn.Dense(10, in_units=128)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = F.relu(self.first(x))
        x = F.relu(self.second(x))
        return self.out(x)


class ConvBlock(HybridBlock):
    """Convolution, normalisation and, if wanted, ReLU."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel: int, strides: int = 1, activate: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.activate = activate
        with self.name_scope():
            self.conv = nn.Conv2D(out_channels, kernel, strides, kernel // 2, use_bias=False, in_channels=in_channels)
            self.bn = nn.BatchNorm(in_channels=out_channels)
            if activate:
                self.activ = nn.Activation("relu")

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = self.conv(x)
        x = self.bn(x)
        if self.activate:
            x = self.activ(x)
        return x


class Bottleneck(HybridBlock):
    """1x1, 3x3 and 1x1 convolutions."""

    def __init__(self, in_channels: int, out_channels: int, strides: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        middle = out_channels // 4
        with self.name_scope():
            self.conv1 = ConvBlock(in_channels, middle, 1)
            self.conv2 = ConvBlock(middle, middle, 3, strides)
            self.conv3 = ConvBlock(middle, out_channels, 1, activate=False)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = self.conv1(x)
        x = self.conv2(x)
        return self.conv3(x)


class Unit(HybridBlock):
    """A bottleneck beside the identity, or beside a 1x1 convolution where the size changes."""

    def __init__(self, in_channels: int, out_channels: int, strides: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.resize_identity = in_channels != out_channels or strides != 1
        with self.name_scope():
            self.body = Bottleneck(in_channels, out_channels, strides)
            if self.resize_identity:
                self.identity_conv = ConvBlock(in_channels, out_channels, 1, strides, activate=False)
            self.activ = nn.Activation("relu")

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        identity = self.identity_conv(x) if self.resize_identity else x
        x = self.body(x)
        x = x + identity
        return self.activ(x)


class ResNet50(HybridBlock):
    """ResNet-50 for images of 224 x 224."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(ConvBlock(3, 64, 7, 2), nn.MaxPool2D(3, 2, 1))
            channels = 64
            for stage, (units, width) in enumerate(((3, 256), (4, 512), (6, 1024), (3, 2048))):
                for unit in range(units):
                    self.features.add(Unit(channels, width, 2 if stage and not unit else 1))
                    channels = width
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="")
            self.output.add(nn.Flatten(), nn.Dense(1000, in_units=2048))

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = self.features(x)
        return self.output(x)


SHAPES = {"MLP": (1, 128), "ResNet50": (1, 3, 224, 224)}
