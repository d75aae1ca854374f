"""`gluon.contrib.data`: further samplers and the texts of language models."""

from __future__ import annotations

from autohybrid.gluon.contrib.data import sampler, text
from autohybrid.gluon.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]
