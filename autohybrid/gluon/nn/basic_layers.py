"""MXNet's module name for what is in `basic`, `containers`, `normalization` and `activations`."""

from __future__ import annotations

from autohybrid.gluon.block import Block
from autohybrid.gluon.hybrid_block import HybridBlock
from autohybrid.gluon.nn.activations import Activation
from autohybrid.gluon.nn.basic import Dense, Dropout, Embedding, Flatten, HybridLambda, Lambda
from autohybrid.gluon.nn.containers import HybridSequential, Sequential
from autohybrid.gluon.nn.normalization import (
    BatchNorm,
    BatchNormReLU,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
)
from autohybrid.gluon.nn.normalization import _BatchNorm as _BatchNorm

__all__ = [
    "Activation", "BatchNorm", "BatchNormReLU", "Block", "Dense", "Dropout", "Embedding", "Flatten", "GroupNorm",
    "HybridBlock", "HybridLambda", "HybridSequential", "InstanceNorm", "Lambda", "LayerNorm", "Sequential",
]  # fmt: skip
