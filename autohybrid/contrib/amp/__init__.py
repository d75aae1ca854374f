"""`mx.contrib.amp`: loss scaling for training in half precision."""

from __future__ import annotations

from autohybrid.contrib.amp import amp
from autohybrid.contrib.amp.amp import init, init_trainer, scale_loss, unscale
from autohybrid.contrib.amp.loss_scaler import LossScaler

__all__ = ["LossScaler", "amp", "init", "init_trainer", "scale_loss", "unscale"]
