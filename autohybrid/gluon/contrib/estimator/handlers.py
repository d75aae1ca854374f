"""The handlers that an Estimator adds itself: stopping, updating, metrics, validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.gluon.contrib.estimator.events import BatchEnd, EpochBegin, EpochEnd, TrainBegin
from autohybrid.gluon.contrib.estimator.metrics import checked_metrics
from autohybrid.optim.metric import Loss

__all__ = ["GradientUpdateHandler", "MetricHandler", "StoppingHandler", "ValidationHandler"]


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends the training after `max_epoch` epochs or `max_batch` batches."""

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        self.current_batch += 1
        self.stop_training = self.stop_training or self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        self.current_epoch += 1
        self.stop_training = self.stop_training or self.current_epoch == self.max_epoch
        return self.stop_training


class GradientUpdateHandler(BatchEnd):
    """Lets the trainer step after each batch, by the number of samples in it."""

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        losses = kwargs["loss"] if isinstance(kwargs["loss"], list) else [kwargs["loss"]]
        estimator.trainer.step(sum(loss.shape[0] for loss in losses))


class MetricHandler(EpochBegin, BatchEnd):
    """Resets `metrics` before each epoch and updates them after each batch."""

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics = checked_metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Calls `eval_fn` (`Estimator.evaluate`) on `val_data` every `epoch_period` epochs, `batch_period` batches."""

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)

    def _evaluate(self, estimator: Any) -> None:
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)
