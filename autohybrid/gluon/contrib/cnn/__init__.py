"""`gluon.contrib.cnn`: deformable convolutions."""

from __future__ import annotations

from autohybrid.gluon.contrib.cnn.deformable import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
