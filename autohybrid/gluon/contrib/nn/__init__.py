"""`gluon.contrib.nn`: further layers."""

from __future__ import annotations

from autohybrid.gluon.contrib.nn.layers import Concurrent, HybridConcurrent, Identity, SparseEmbedding, SyncBatchNorm
from autohybrid.gluon.contrib.nn.pixel_shuffle import PixelShuffle1D, PixelShuffle2D, PixelShuffle3D

# MXNet's module names; they take what is above from here.
from autohybrid.gluon.contrib.nn import basic_layers  # isort: skip

__all__ = [
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D",
    "SparseEmbedding", "SyncBatchNorm", "basic_layers",
]  # fmt: skip
