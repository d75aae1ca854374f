"""`gluon.contrib.data`: further samplers."""

from __future__ import annotations

from autohybrid.gluon.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]
