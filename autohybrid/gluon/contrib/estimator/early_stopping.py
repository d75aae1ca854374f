"""EarlyStoppingHandler: training ends when a metric no longer improves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autohybrid.gluon.contrib.estimator.events import EpochEnd, TrainBegin, TrainEnd
from autohybrid.gluon.contrib.estimator.metrics import improvement, worst
from autohybrid.optim.metric import CompositeEvalMetric, EvalMetric

__all__ = ["EarlyStoppingHandler"]


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends the training when `monitor` has not improved by more than `min_delta` for `patience` epochs.

    `mode`: 'min', 'max', or 'auto' by the metric's name. With `baseline`, values have to improve on that from the
    start. Raises ValueError when `monitor` is not one single metric.
    """

    def __init__(
        self,
        monitor: Any,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ) -> None:
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ValueError(
                f"monitor must be a single one of the estimator's train_metrics and val_metrics, not {monitor!r}"
            )
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.monitor_op = improvement(mode, monitor)
        self.min_delta = min_delta if self.monitor_op is np.greater else -min_delta
        self.best = worst(self.monitor_op)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(
                f"{name} was not updated; monitor one of the estimator's metrics", RuntimeWarning, stacklevel=2
            )
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best, self.wait = value, 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.stopped_epoch > 0:
            estimator.logger.info(
                "[Epoch %d] early stopping: %s does not improve", self.stopped_epoch, self.monitor.get()[0]
            )
