"""`gluon.contrib.nn`: further layers."""

from __future__ import annotations

from autohybrid.gluon.contrib.nn.layers import Concurrent, HybridConcurrent, Identity, SparseEmbedding, SyncBatchNorm
from autohybrid.gluon.contrib.nn.pixel_shuffle import PixelShuffle1D, PixelShuffle2D, PixelShuffle3D

__all__ = [
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D",
    "SparseEmbedding", "SyncBatchNorm",
]  # fmt: skip
