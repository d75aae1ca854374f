"""Estimator: the loop of training and validation, with handlers called on the way."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any, NamedTuple

from autohybrid.context import Context, cpu, gpu
from autohybrid.gluon.contrib.estimator.batch_processor import BatchProcessor
from autohybrid.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
    checked_handlers,
)
from autohybrid.gluon.contrib.estimator.handlers import (
    GradientUpdateHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from autohybrid.gluon.contrib.estimator.logging_handler import LoggingHandler
from autohybrid.gluon.contrib.estimator.metrics import checked_metrics, refuse_foreign_metrics
from autohybrid.gluon.data import DataLoader
from autohybrid.gluon.loss import Loss, SoftmaxCrossEntropyLoss
from autohybrid.gluon.trainer import Trainer
from autohybrid.optim.metric import Accuracy
from autohybrid.optim.metric import Loss as LossMetric
from autohybrid.tensor.backend import num_gpus

__all__ = ["Estimator"]


class Moments(NamedTuple):
    """The handlers of each moment of training."""

    train_begin: list[Any]
    epoch_begin: list[Any]
    batch_begin: list[Any]
    batch_end: list[Any]
    epoch_end: list[Any]
    train_end: list[Any]


_KINDS = (TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd, TrainEnd)


class Estimator:
    """Trains `net` to a small `loss`.

    `train_metrics` defaults to the loss, and accuracy for SoftmaxCrossEntropyLoss; `val_metrics` to copies of them.
    `trainer` defaults to SGD with a rate of 0.001, `context` to the first GPU or the CPU. `val_net` and `val_loss` take
    the place of `net` and `loss` in `evaluate`. Raises ValueError for arguments of other kinds.

    >>> Estimator(net, gluon.loss.L2Loss()).fit(train_data=loader, epochs=2)
    """

    #: Logs to standard output; each estimator has its own.
    logger: logging.Logger

    def __init__(
        self,
        net: Any,
        loss: Any,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Any = None,
        context: Any = None,
        val_net: Any = None,
        val_loss: Any = None,
        batch_processor: Any = None,
    ) -> None:
        self.net = net
        self.loss = _checked_loss(loss)
        self._train_metrics = _named_for_training(checked_metrics(train_metrics), self.loss)
        self._val_metrics = _named_for_validation(checked_metrics(val_metrics), self._train_metrics)
        self.val_loss = self.loss if val_loss is None else _checked_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger = logging.Logger(name="Estimator", level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _checked_context(context)
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        self.batch_processor = _checked_processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    def _initialize(self, initializer: Any) -> None:
        parameters = self.net.collect_params().values()
        if any(p._data is None and not p._deferred_init for p in parameters):
            self.net.initialize(init=initializer, ctx=self.context)
        elif initializer:
            warnings.warn(
                "Network already fully initialized, so `initializer` is not used; call "
                "net.initialize(init=..., force_reinit=True) to start over",
                stacklevel=3,
            )

    def _checked_trainer(self, trainer: Any) -> Trainer:
        if not trainer:
            warnings.warn("No trainer specified: SGD with a learning rate of 0.001 is used", stacklevel=3)
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f"trainer must be a gluon.Trainer, not {type(trainer).__name__}")
        return trainer

    @property
    def train_metrics(self) -> list[Any]:
        """The metrics of training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[Any]:
        """The metrics of validation."""
        return self._val_metrics

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Run over `val_data` once and bring `val_metrics` up to date. Raises ValueError when it is no DataLoader."""
        _refuse_other_than_loader(val_data)
        for metric in self.val_metrics:
            metric.reset()
        given = checked_handlers(event_handlers)
        moments = self._categorize_handlers(self._with_defaults(given, self.val_metrics, []))
        self._call(moments.epoch_begin, "epoch_begin")
        for batch in val_data:
            self._call(moments.batch_begin, "batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            self._call(moments.batch_end, "batch_end", batch=batch, pred=pred, label=label, loss=loss)
        self._call(moments.epoch_end, "epoch_end")

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train for a number of `epochs` or of `batches`; validate on `val_data` after each epoch.

        Raises ValueError when `train_data` is no DataLoader, or not exactly one of `epochs` and `batches` is given.
        """
        _refuse_other_than_loader(train_data)
        if bool(epochs) == bool(batches):
            raise ValueError("give either `epochs` or `batches`, not both and not none")
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        moments = self._categorize_handlers(self._prepare_default_handlers(val_data, event_handlers))
        self._call(moments.train_begin, "train_begin")
        while not self._fit_epoch(train_data, moments):
            pass
        self._call(moments.train_end, "train_end")

    def _fit_epoch(self, train_data: Any, moments: Moments) -> bool:
        """One epoch; whether a handler ends the training."""
        self._call(moments.epoch_begin, "epoch_begin")
        for batch in train_data:
            self._call(moments.batch_begin, "batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.fit_batch(self, batch, self.batch_axis)
            if self._call(moments.batch_end, "batch_end", batch=batch, pred=pred, label=label, loss=loss):
                break
        return self._call(moments.epoch_end, "epoch_end")

    def _prepare_default_handlers(self, val_data: Any, event_handlers: Any) -> list[Any]:
        """The handlers of a training, those the estimator adds included, in the order in which they are called."""
        given = checked_handlers(event_handlers)
        added: list[Any] = [StoppingHandler(self.max_epoch, self.max_batch)]
        if not any(isinstance(handler, GradientUpdateHandler) for handler in given):
            added.append(GradientUpdateHandler())
        if val_data and not any(isinstance(handler, ValidationHandler) for handler in given):
            added.append(ValidationHandler(val_data=val_data, eval_fn=self.evaluate))
        return self._with_defaults(given, self.train_metrics, added)

    def _with_defaults(self, given: list[Any], metrics: list[Any], added: list[Any]) -> list[Any]:
        """`given` and `added`, with handlers for metrics and logging if there are none, by priority."""
        for kind in (MetricHandler, LoggingHandler):
            if not any(isinstance(handler, kind) for handler in given):
                added = [*added, kind(metrics=metrics)]
        if given and added:
            for handler in given:
                refuse_foreign_metrics(handler, [*self.train_metrics, *self.val_metrics])
        return sorted([*given, *added], key=lambda handler: getattr(handler, "priority", 0))

    def _categorize_handlers(self, event_handlers: list[Any]) -> Moments:
        """The handlers of each moment."""
        return Moments(*[[h for h in event_handlers if isinstance(h, kind)] for kind in _KINDS])

    def _call(self, handlers: list[Any], method: str, **kwargs: Any) -> bool:
        """Call all of `handlers`; whether one of them said stop."""
        return any([getattr(handler, method)(self, **kwargs) for handler in handlers])


def _checked_loss(loss: Any) -> Loss:
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a loss of gluon.loss, not {type(loss).__name__}")
    return loss


def _checked_context(context: Any) -> list[Context]:
    devices = [context] if isinstance(context, Context) else context
    if devices:
        if not isinstance(devices, list) or not all(isinstance(ctx, Context) for ctx in devices):
            raise ValueError(
                f"context must be a Context or a list of them, such as [mx.gpu(0), mx.gpu(1)], not {context!r}"
            )
        available = [gpu(i) for i in range(num_gpus())]
        for ctx in devices:
            if ctx.device_type == "gpu" and ctx not in available:
                raise AssertionError(f"{ctx} is not available; there are cpu() and {available}")
        return devices
    count = num_gpus()
    if count > 1:
        warnings.warn(f"{count} GPUs are there, but only gpu(0) is used; give `context` to use more", stacklevel=3)
    return [gpu(0)] if count else [cpu()]


def _checked_processor(processor: Any) -> Any:
    if processor is None:
        return BatchProcessor()
    if not callable(getattr(processor, "fit_batch", None)) or not callable(getattr(processor, "evaluate_batch", None)):
        raise ValueError("a batch processor needs the methods fit_batch() and evaluate_batch()")
    return processor


def _refuse_other_than_loader(data: Any) -> None:
    if not isinstance(data, DataLoader):
        raise ValueError(f"data must come from a gluon.data.DataLoader, not {type(data).__name__}")


def _named_for_training(metrics: list[Any], loss: Loss) -> list[Any]:
    if not metrics:
        metrics = [Accuracy()] if isinstance(loss, SoftmaxCrossEntropyLoss) else []
        metrics.append(LossMetric(loss.name.rstrip("1234567890")))
    for metric in metrics:
        metric.name = "training " + metric.name
    return metrics


def _named_for_validation(metrics: list[Any], training: list[Any]) -> list[Any]:
    metrics = metrics or [copy.deepcopy(metric) for metric in training]
    for metric in metrics:
        if "training" in metric.name:
            metric.name = metric.name.replace("training", "validation")
        else:
            metric.name = "validation " + metric.name
    return metrics
