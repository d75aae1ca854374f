"""`gluon.model_zoo`: networks for images, and their pre-trained parameters."""

from __future__ import annotations

from autohybrid.gluon.model_zoo import model_store, vision

__all__ = ["model_store", "vision"]
