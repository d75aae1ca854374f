"""MobileNet (Howard 2017) and MobileNetV2 (Sandler 2018): depthwise and pointwise convolutions."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, variant, with_parameters

__all__ = [
    "MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2", "mobilenet0_5", "mobilenet0_25", "mobilenet0_75",
    "mobilenet1_0", "mobilenet_v2_0_5", "mobilenet_v2_0_25", "mobilenet_v2_0_75", "mobilenet_v2_1_0",
]  # fmt: skip

#: Channels of the pointwise convolutions of MobileNet, and the strides of the depthwise ones before them.
_V1_CHANNELS = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)
_V1_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)
#: Expansion, channels, number of blocks and stride of the first block of each stage of MobileNetV2.
_V2_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class RELU6(HybridBlock):
    """ReLU that stops at 6."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.clip(x, 0, 6, name="relu6")


def _add_conv(
    stack: nn.HybridSequential,
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    pad: int = 0,
    num_group: int = 1,
    active: bool = True,
    relu6: bool = False,
) -> None:
    stack.add(nn.Conv2D(channels, kernel, stride, pad, groups=num_group, use_bias=False))
    stack.add(nn.BatchNorm(scale=True))
    if active:
        stack.add(RELU6() if relu6 else nn.Activation("relu"))


class LinearBottleneck(HybridBlock):
    """Expand by `t`, convolve depthwise, project; the input is added where shapes agree."""

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        inner = in_channels * t
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, inner, relu6=True)
            _add_conv(self.out, inner, kernel=3, stride=stride, pad=1, num_group=inner, relu6=True)
            _add_conv(self.out, channels, active=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        out = self.out(x)
        if self.use_shortcut:
            out = F.elemwise_add(out, x)
        return out


class MobileNet(Classifier):
    """MobileNet; `multiplier` scales all channel counts."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            channels = int(32 * multiplier)
            _add_conv(self.features, channels, kernel=3, pad=1, stride=2)
            for following, stride in zip(_V1_CHANNELS, _V1_STRIDES):
                _add_conv(self.features, channels, kernel=3, stride=stride, pad=1, num_group=channels)
                channels = int(following * multiplier)
                _add_conv(self.features, channels)
            self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


class MobileNetV2(Classifier):
    """MobileNetV2; `multiplier` scales all channel counts but, below 1, the last."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                channels = int(32 * multiplier)
                _add_conv(self.features, channels, kernel=3, stride=2, pad=1, relu6=True)
                for expansion, stage_channels, blocks, first_stride in _V2_STAGES:
                    for number in range(blocks):
                        following = int(stage_channels * multiplier)
                        stride = first_stride if number == 0 else 1
                        self.features.add(LinearBottleneck(channels, following, expansion, stride))
                        channels = following
                _add_conv(self.features, int(1280 * multiplier) if multiplier > 1.0 else 1280, relu6=True)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"), nn.Flatten())


def get_mobilenet(
    multiplier: float, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> MobileNet:
    """MobileNet; published parameters exist for the multipliers 1.0, 0.75, 0.5 and 0.25."""
    net = MobileNet(multiplier, **kwargs)
    return with_parameters(net, pretrained, f"mobilenet{_shown(multiplier)}", ctx, root)  # type: ignore[no-any-return]


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> MobileNetV2:
    """MobileNetV2; published parameters exist for the multipliers 1.0, 0.75, 0.5 and 0.25."""
    net = MobileNetV2(multiplier, **kwargs)
    name = f"mobilenetv2_{_shown(multiplier)}"
    return with_parameters(net, pretrained, name, ctx, root)  # type: ignore[no-any-return]


def _shown(multiplier: float) -> str:
    """The multiplier as file names have it: 1.0, 0.75, 0.5, 0.25."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


mobilenet1_0 = variant(get_mobilenet, "mobilenet1_0", "MobileNet with all channels.", 1.0)
mobilenet0_75 = variant(get_mobilenet, "mobilenet0_75", "MobileNet with 3/4 of the channels.", 0.75)
mobilenet0_5 = variant(get_mobilenet, "mobilenet0_5", "MobileNet with half of the channels.", 0.5)
mobilenet0_25 = variant(get_mobilenet, "mobilenet0_25", "MobileNet with 1/4 of the channels.", 0.25)
mobilenet_v2_1_0 = variant(get_mobilenet_v2, "mobilenet_v2_1_0", "MobileNetV2 with all channels.", 1.0)
mobilenet_v2_0_75 = variant(get_mobilenet_v2, "mobilenet_v2_0_75", "MobileNetV2 with 3/4 of the channels.", 0.75)
mobilenet_v2_0_5 = variant(get_mobilenet_v2, "mobilenet_v2_0_5", "MobileNetV2 with half of the channels.", 0.5)
mobilenet_v2_0_25 = variant(get_mobilenet_v2, "mobilenet_v2_0_25", "MobileNetV2 with 1/4 of the channels.", 0.25)
