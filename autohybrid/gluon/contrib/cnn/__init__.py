"""`gluon.contrib.cnn`: deformable convolutions."""

from __future__ import annotations

from autohybrid.gluon.contrib.cnn.deformable import DeformableConvolution, ModulatedDeformableConvolution

# MXNet's module names; they take what is above from here.
from autohybrid.gluon.contrib.cnn import conv_layers  # isort: skip

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution", "conv_layers"]
