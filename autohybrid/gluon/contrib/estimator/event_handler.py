"""MXNet's module name for events and handlers."""

from __future__ import annotations

from autohybrid.gluon.contrib.estimator.checkpoints import CheckpointHandler
from autohybrid.gluon.contrib.estimator.early_stopping import EarlyStoppingHandler
from autohybrid.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
)
from autohybrid.gluon.contrib.estimator.handlers import (
    GradientUpdateHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from autohybrid.gluon.contrib.estimator.logging_handler import LoggingHandler

__all__ = [
    "BatchBegin", "BatchEnd", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin", "EpochEnd", "EventHandler",
    "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "StoppingHandler", "TrainBegin", "TrainEnd",
    "ValidationHandler",
]  # fmt: skip
