"""`gluon.nn`: layers."""

from __future__ import annotations

from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import ELU, GELU, SELU, Activation, LeakyReLU, PReLU, Swish
from autohybrid.gluon.nn.basic import Dense, Dropout, Embedding, Flatten, HybridLambda, Lambda
from autohybrid.gluon.nn.containers import HybridSequential, Sequential
from autohybrid.gluon.nn.convolution import (
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    ReflectionPad2D,
)
from autohybrid.gluon.nn.normalization import BatchNorm, BatchNormReLU, GroupNorm, InstanceNorm, LayerNorm
from autohybrid.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
)

# MXNet's module names; they take what is above from here.
from autohybrid.gluon.nn import basic_layers, conv_layers  # isort: skip

__all__ = [
    "ELU", "GELU", "SELU", "Activation", "AvgPool1D", "AvgPool2D", "AvgPool3D", "BatchNorm", "BatchNormReLU", "Block",
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout",
    "Embedding", "Flatten", "GlobalAvgPool1D", "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D",
    "GlobalMaxPool2D", "GlobalMaxPool3D", "GroupNorm", "HybridBlock", "HybridLambda", "HybridSequential",
    "InstanceNorm", "Lambda", "LayerNorm", "LeakyReLU", "MaxPool1D", "MaxPool2D", "MaxPool3D", "PReLU",
    "ReflectionPad2D", "Sequential", "Swish", "SymbolBlock", "basic_layers", "conv_layers",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "SymbolBlock":
        from autohybrid.gluon.symbol_block import SymbolBlock

        return SymbolBlock
    raise AttributeError(f"module 'autohybrid.gluon.nn' has no attribute '{name}'")
