"""Inception v3 (Szegedy 2015): parallel branches of small convolutions, joined along the channels."""

from __future__ import annotations

from typing import Any

from autohybrid.gluon import nn
from autohybrid.gluon.contrib.nn import HybridConcurrent
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.model_zoo.vision.classifier import Classifier, with_parameters

__all__ = ["Inception3", "inception_v3"]

#: Channels, kernel and, where they are not 1 and 0, strides and padding of a convolution.
Setting = tuple[Any, ...]


class Inception3(Classifier):
    """Inception v3, for images of 299."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(_convolution(32, 3, 2), _convolution(32, 3), _convolution(64, 3, 1, 1))
            self.features.add(nn.MaxPool2D(pool_size=3, strides=2))
            self.features.add(_convolution(80, 1), _convolution(192, 3), nn.MaxPool2D(pool_size=3, strides=2))
            for number, pooled in enumerate((32, 64, 64), start=1):
                self.features.add(_block_a(pooled, f"A{number}_"))
            self.features.add(_block_b("B_"))
            for number, channels in enumerate((128, 160, 160, 192), start=1):
                self.features.add(_block_c(channels, f"C{number}_"))
            self.features.add(_block_d("D_"), _block_e("E1_"), _block_e("E2_"))
            self.features.add(nn.AvgPool2D(pool_size=8), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def _convolution(channels: int, kernel: Any, strides: Any = (1, 1), padding: Any = (0, 0)) -> nn.HybridSequential:
    stack = nn.HybridSequential(prefix="")
    stack.add(nn.Conv2D(channels, kernel, strides, padding, use_bias=False))
    stack.add(nn.BatchNorm(epsilon=0.001), nn.Activation("relu"))
    return stack


def _branch(*settings: Setting, pool: HybridBlock | None = None) -> nn.HybridSequential:
    stack = nn.HybridSequential(prefix="")
    if pool is not None:
        stack.add(pool)
    for setting in settings:
        stack.add(_convolution(*setting))
    return stack


def _average() -> nn.AvgPool2D:
    return nn.AvgPool2D(pool_size=3, strides=1, padding=1)


def _block_a(pooled: int, prefix: str) -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(_branch((64, 1)))
        block.add(_branch((48, 1), (64, 5, 1, 2)))
        block.add(_branch((64, 1), (96, 3, 1, 1), (96, 3, 1, 1)))
        block.add(_branch((pooled, 1), pool=_average()))
    return block


def _block_b(prefix: str) -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(_branch((384, 3, 2)))
        block.add(_branch((64, 1), (96, 3, 1, 1), (96, 3, 2)))
        block.add(_branch(pool=nn.MaxPool2D(pool_size=3, strides=2)))
    return block


def _wide(channels: int) -> Setting:
    return (channels, (1, 7), (1, 1), (0, 3))


def _tall(channels: int) -> Setting:
    return (channels, (7, 1), (1, 1), (3, 0))


def _block_c(channels: int, prefix: str) -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(_branch((192, 1)))
        block.add(_branch((channels, 1), _wide(channels), _tall(192)))
        block.add(_branch((channels, 1), _tall(channels), _wide(channels), _tall(channels), _wide(192)))
        block.add(_branch((192, 1), pool=_average()))
    return block


def _block_d(prefix: str) -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(_branch((192, 1), (320, 3, 2)))
        block.add(_branch((192, 1), _wide(192), _tall(192), (192, 3, 2)))
        block.add(_branch(pool=nn.MaxPool2D(pool_size=3, strides=2)))
    return block


def _split() -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix="")
    block.add(_branch((384, (1, 3), (1, 1), (0, 1))), _branch((384, (3, 1), (1, 1), (1, 0))))
    return block


def _block_e(prefix: str) -> HybridConcurrent:
    block = HybridConcurrent(axis=1, prefix=prefix)
    with block.name_scope():
        block.add(_branch((320, 1)))
        for settings in (((384, 1),), ((448, 1), (384, 3, 1, 1))):
            branch = nn.HybridSequential(prefix="")
            block.add(branch)
            branch.add(_branch(*settings), _split())
        block.add(_branch((192, 1), pool=_average()))
    return block


def inception_v3(pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any) -> Inception3:
    """Inception v3; `pretrained` loads the published parameters from `root`, or the network."""
    return with_parameters(Inception3(**kwargs), pretrained, "inceptionv3", ctx, root)  # type: ignore[no-any-return]
