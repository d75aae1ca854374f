"""`gluon.contrib.estimator`: training loops with event handlers."""

from __future__ import annotations

from autohybrid.gluon.contrib.estimator import batch_processor, event_handler
from autohybrid.gluon.contrib.estimator.batch_processor import BatchProcessor
from autohybrid.gluon.contrib.estimator.estimator import Estimator
from autohybrid.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)

__all__ = [
    "BatchBegin", "BatchEnd", "BatchProcessor", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin", "EpochEnd",
    "Estimator", "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "StoppingHandler", "TrainBegin",
    "TrainEnd", "ValidationHandler", "batch_processor", "event_handler",
]  # fmt: skip
