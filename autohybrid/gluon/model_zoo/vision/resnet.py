"""ResNet, versions 1 (He 2015) and 2 (He 2016: normalization and activation before the convolutions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, variant, with_parameters

__all__ = [
    "BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "ResNetV1", "ResNetV2", "get_resnet",
    "resnet18_v1", "resnet18_v2", "resnet34_v1", "resnet34_v2", "resnet50_v1", "resnet50_v2", "resnet101_v1",
    "resnet101_v2", "resnet152_v1", "resnet152_v2",
]  # fmt: skip


def _conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


class _BlockV1(HybridBlock):
    """`relu(body(x) + x)`, where `x` is convolved to the new shape if `downsample`."""

    #: The order of the sum's operands; it decides the order of nodes in exported files.
    _residual_first = False

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        self._add_body(channels, stride, in_channels)
        self.downsample: nn.HybridSequential | None = None
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(
                nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels),
                nn.BatchNorm(),
            )

    def _add_body(self, channels: int, stride: int, in_channels: int) -> None:
        raise NotImplementedError

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        residual = x if self.downsample is None else self.downsample(x)
        body = self.body(x)
        return F.Activation(residual + body if self._residual_first else body + residual, act_type="relu")


class BasicBlockV1(_BlockV1):
    """Two 3 x 3 convolutions; ResNet 18 and 34."""

    _residual_first = True

    def _add_body(self, channels: int, stride: int, in_channels: int) -> None:
        self.body.add(_conv3x3(channels, stride, in_channels), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(_conv3x3(channels, 1, channels), nn.BatchNorm())


class BottleneckV1(_BlockV1):
    """A 3 x 3 convolution on a quarter of the channels, between two of 1 x 1; ResNet 50, 101 and 152."""

    def _add_body(self, channels: int, stride: int, in_channels: int) -> None:
        inner = channels // 4
        self.body.add(nn.Conv2D(inner, kernel_size=1, strides=stride), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(_conv3x3(inner, 1, inner), nn.BatchNorm(), nn.Activation("relu"))
        self.body.add(nn.Conv2D(channels, kernel_size=1, strides=1), nn.BatchNorm())


class BasicBlockV2(HybridBlock):
    """Two 3 x 3 convolutions, each after BatchNorm and ReLU."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        residual = x
        x = F.Activation(self.bn1(x), act_type="relu")
        if self.downsample is not None:
            residual = self.downsample(x)
        x = self.conv1(x)
        x = F.Activation(self.bn2(x), act_type="relu")
        return self.conv2(x) + residual


class BottleneckV2(HybridBlock):
    """1 x 1, 3 x 3 and 1 x 1 convolutions, each after BatchNorm and ReLU."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        inner = channels // 4
        self.bn1 = nn.BatchNorm()
        self.conv1 = nn.Conv2D(inner, kernel_size=1, strides=1, use_bias=False)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(inner, stride, inner)
        self.bn3 = nn.BatchNorm()
        self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=1, use_bias=False)
        self.downsample = _shortcut(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        residual = x
        x = F.Activation(self.bn1(x), act_type="relu")
        if self.downsample is not None:
            residual = self.downsample(x)
        x = self.conv1(x)
        x = F.Activation(self.bn2(x), act_type="relu")
        x = self.conv2(x)
        x = F.Activation(self.bn3(x), act_type="relu")
        return self.conv3(x) + residual


def _shortcut(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)


class _ResNet(Classifier):
    """Stages of `layers[i]` blocks with `channels[i + 1]` channels, after a first convolution with `channels[0]`.

    `thumbnail` is for small images: the first convolution is 3 x 3 and nothing is pooled.
    """

    def _add_stem(self, channels: int, thumbnail: bool) -> None:
        if thumbnail:
            self.features.add(_conv3x3(channels, 1, 0))
        else:
            self.features.add(nn.Conv2D(channels, 7, 2, 3, use_bias=False), nn.BatchNorm())
            self.features.add(nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))

    def _add_stages(self, block: Any, layers: Sequence[int], channels: Sequence[int]) -> None:
        if len(layers) != len(channels) - 1:
            raise AssertionError(f"{len(layers)} stages need {len(layers) + 1} channel counts, not {len(channels)}")
        for number, count in enumerate(layers):
            stride = 1 if number == 0 else 2
            stage = self._make_layer(block, count, channels[number + 1], stride, number + 1, channels[number])
            self.features.add(stage)

    def _make_layer(
        self, block: Any, layers: int, channels: int, stride: int, stage_index: int, in_channels: int = 0
    ) -> nn.HybridSequential:
        stage = nn.HybridSequential(prefix=f"stage{stage_index}_")
        with stage.name_scope():
            stage.add(block(channels, stride, channels != in_channels, in_channels=in_channels, prefix=""))
            for _ in range(layers - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return stage


class ResNetV1(_ResNet):
    """ResNet whose blocks normalize after convolving; see get_resnet for the published sizes."""

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """ResNet whose blocks normalize before convolving; see get_resnet for the published sizes."""

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.BatchNorm(scale=False, center=False))
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])


_BASIC = [64, 64, 128, 256, 512]
_WIDE = [64, 256, 512, 1024, 2048]
#: Number of layers -> (kind of block, blocks in each stage, channels).
resnet_spec: dict[int, tuple[str, list[int], list[int]]] = {
    18: ("basic_block", [2, 2, 2, 2], _BASIC),
    34: ("basic_block", [3, 4, 6, 3], _BASIC),
    50: ("bottle_neck", [3, 4, 6, 3], _WIDE),
    101: ("bottle_neck", [3, 4, 23, 3], _WIDE),
    152: ("bottle_neck", [3, 8, 36, 3], _WIDE),
}
resnet_net_versions: list[Any] = [ResNetV1, ResNetV2]
resnet_block_versions: list[dict[str, Any]] = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int, num_layers: int, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> Any:
    """ResNet version 1 or 2 with 18, 34, 50, 101 or 152 layers. Raises AssertionError for others."""
    if num_layers not in resnet_spec:
        raise AssertionError(f"ResNet has {', '.join(map(str, resnet_spec))} layers, not {num_layers}")
    if version not in (1, 2):
        raise AssertionError(f"ResNet has the versions 1 and 2, not {version}")
    kind, layers, channels = resnet_spec[num_layers]
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    return with_parameters(net, pretrained, f"resnet{num_layers}_v{version}", ctx, root)


resnet18_v1 = variant(get_resnet, "resnet18_v1", "ResNet version 1 with 18 layers.", 1, 18)
resnet34_v1 = variant(get_resnet, "resnet34_v1", "ResNet version 1 with 34 layers.", 1, 34)
resnet50_v1 = variant(get_resnet, "resnet50_v1", "ResNet version 1 with 50 layers.", 1, 50)
resnet101_v1 = variant(get_resnet, "resnet101_v1", "ResNet version 1 with 101 layers.", 1, 101)
resnet152_v1 = variant(get_resnet, "resnet152_v1", "ResNet version 1 with 152 layers.", 1, 152)
resnet18_v2 = variant(get_resnet, "resnet18_v2", "ResNet version 2 with 18 layers.", 2, 18)
resnet34_v2 = variant(get_resnet, "resnet34_v2", "ResNet version 2 with 34 layers.", 2, 34)
resnet50_v2 = variant(get_resnet, "resnet50_v2", "ResNet version 2 with 50 layers.", 2, 50)
resnet101_v2 = variant(get_resnet, "resnet101_v2", "ResNet version 2 with 101 layers.", 2, 101)
resnet152_v2 = variant(get_resnet, "resnet152_v2", "ResNet version 2 with 152 layers.", 2, 152)
