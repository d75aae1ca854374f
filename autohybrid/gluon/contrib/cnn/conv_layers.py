"""MXNet's module name for the layers of `gluon.contrib.cnn`."""

from __future__ import annotations

from autohybrid.gluon.contrib.cnn.deformable import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
