"""LoggingHandler: what happens in training, as lines of the estimator's logger."""

from __future__ import annotations

import time
from typing import Any

from autohybrid.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
)
from autohybrid.gluon.contrib.estimator.metrics import checked_metrics

__all__ = ["LoggingHandler"]


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs times and `metrics` after each epoch, and every `log_interval` batches if that is a number.

    Raises ValueError for another `log_interval` than a number or 'epoch'.
    """

    def __init__(self, log_interval: int | str = "epoch", metrics: Any = None, priority: float = float("inf")) -> None:
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ValueError(f"log_interval must be a number of batches or 'epoch', not {log_interval!r}")
        self.metrics = checked_metrics(metrics)
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time = 0.0
        self.train_start = self.epoch_start = self.batch_start = 0.0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.train_start = time.time()
        estimator.logger.info(
            "Training begin: using optimizer %s with current learning rate %.4f",
            type(estimator.trainer.optimizer).__name__,
            estimator.trainer.learning_rate,
        )
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self.current_epoch = self.batch_index = self.processed_samples = 0
        self.log_interval_time = 0.0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        spent = time.time() - self.train_start
        estimator.logger.info(
            self._with_metrics(f"Train finished using total {int(spent)}s with {self.current_epoch} epochs. ")
        )

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(self.log_interval, int):
            self.processed_samples += kwargs["batch"][0].shape[0]
            self.log_interval_time += time.time() - self.batch_start
            if self.batch_index % self.log_interval == 0:
                place = f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}] "
                estimator.logger.info(self._with_metrics(f"{place}time/interval: {self.log_interval_time:.3f}s "))
                self.log_interval_time = 0.0
        self.batch_index += 1

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.epoch_start = time.time()
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info(
                "[Epoch %d] Begin, current learning rate: %.4f", self.current_epoch, estimator.trainer.learning_rate
            )
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        spent = time.time() - self.epoch_start
        estimator.logger.info(self._with_metrics(f"[Epoch {self.current_epoch}] Finished in {spent:.3f}s, "))
        self.current_epoch += 1
        self.batch_index = 0

    def _with_metrics(self, text: str) -> str:
        values = [metric.get() for metric in self.metrics]
        return (text + ", ".join(f"{name}: {value:.4f}" for name, value in values)).rstrip(", ")
