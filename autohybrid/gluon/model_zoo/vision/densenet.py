"""DenseNet (Huang 2016): every layer of a block gets the outputs of all layers before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.contrib.nn import HybridConcurrent, Identity
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, variant, with_parameters

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

#: Number of layers -> (channels at first, channels that each layer adds, layers in each block).
densenet_spec = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


class DenseNet(Classifier):
    """Blocks of `block_config` layers, each adding `growth_rate` channels; halving channels and extents in between."""

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1),
            )
            channels = num_init_features
            for stage, layers in enumerate(block_config, start=1):
                self.features.add(_dense_block(layers, bn_size, growth_rate, dropout, stage))
                channels += layers * growth_rate
                if stage < len(block_config):
                    channels //= 2
                    self.features.add(_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)


def _dense_block(layers: int, bn_size: int, growth_rate: int, dropout: float, stage: int) -> nn.HybridSequential:
    block = nn.HybridSequential(prefix=f"stage{stage}_")
    with block.name_scope():
        for _ in range(layers):
            block.add(_dense_layer(growth_rate, bn_size, dropout))
    return block


def _dense_layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    new = nn.HybridSequential(prefix="")
    for channels, kernel in ((bn_size * growth_rate, 1), (growth_rate, 3)):
        padding = kernel // 2
        new.add(nn.BatchNorm(), nn.Activation("relu"))
        new.add(nn.Conv2D(channels, kernel_size=kernel, padding=(padding, padding), use_bias=False))
    if dropout:
        new.add(nn.Dropout(dropout))
    layer = HybridConcurrent(axis=1, prefix="")
    layer.add(Identity(), new)
    return layer


def _transition(channels: int) -> nn.HybridSequential:
    stack = nn.HybridSequential(prefix="")
    stack.add(nn.BatchNorm(), nn.Activation("relu"))
    stack.add(nn.Conv2D(channels, kernel_size=1, use_bias=False), nn.AvgPool2D(pool_size=2, strides=2))
    return stack


def get_densenet(
    num_layers: int, pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> DenseNet:
    """DenseNet with 121, 161, 169 or 201 layers; `pretrained` loads the published parameters."""
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    return with_parameters(net, pretrained, f"densenet{num_layers}", ctx, root)  # type: ignore[no-any-return]


densenet121 = variant(get_densenet, "densenet121", "DenseNet with 121 layers.", 121)
densenet161 = variant(get_densenet, "densenet161", "DenseNet with 161 layers.", 161)
densenet169 = variant(get_densenet, "densenet169", "DenseNet with 169 layers.", 169)
densenet201 = variant(get_densenet, "densenet201", "DenseNet with 201 layers.", 201)
