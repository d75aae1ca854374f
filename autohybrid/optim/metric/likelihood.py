"""Metrics of probabilities and losses: CrossEntropy, NegativeLogLikelihood, Perplexity, Loss."""

from __future__ import annotations

import math
from typing import Any

import numpy

from autohybrid.optim.metric.base import EvalMetric, alias, check_label_shapes, compensated_sum, host, register


class _LogProbability(EvalMetric):
    """The mean of `-log(p + eps)` of the labels' classes; predictions are rows of probabilities."""

    def __init__(self, eps: float, name: str, output_names: list[str] | None, label_names: list[str] | None) -> None:
        super().__init__(name, eps=eps, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            wanted, scores = host(label).ravel(), host(pred)
            if len(wanted) != len(scores):
                raise AssertionError(f"{len(wanted)} labels, but {len(scores)} rows of probabilities")
            chosen = scores[numpy.arange(len(wanted)), wanted.astype("int64")]
            self._add(-numpy.log(chosen + self.eps).sum(), len(wanted))


@register
@alias("ce")
class CrossEntropy(_LogProbability):
    """The mean cross entropy of class probabilities."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogProbability):
    """The mean negative log likelihood of class probabilities."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
class Perplexity(EvalMetric):
    """`exp` of the mean negative log probability of the labels; labels equal to `ignore_label` do not count."""

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(
            name, ignore_label=ignore_label, output_names=output_names, label_names=label_names, has_global_stats=True
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        if len(labels) != len(preds):
            raise AssertionError(f"{len(labels)} label arrays, but {len(preds)} prediction arrays")
        loss, count = 0.0, 0
        for label, pred in zip(labels, preds):
            wanted, scores = host(label).reshape(-1), host(pred)
            if wanted.size * scores.shape[-1] != scores.size:
                raise AssertionError(f"labels of shape {label.shape} do not fit predictions of shape {pred.shape}")
            rows = numpy.moveaxis(scores, self.axis, -1).reshape(wanted.size, -1)
            classes = wanted.astype("int64").clip(0, rows.shape[1] - 1)
            chosen = rows[numpy.arange(wanted.size), classes]
            counted = numpy.ones(wanted.shape, bool) if self.ignore_label is None else wanted != self.ignore_label
            logs = numpy.log(numpy.maximum(1e-10, chosen[counted]).astype("float64")).astype(scores.dtype)
            loss -= compensated_sum(logs)
            count += int(counted.sum())
        self._add(loss, count)

    def _value(self, total: float, count: float) -> float:
        return math.nan if count == 0 else math.exp(total / count)


@register
class Loss(EvalMetric):
    """The mean of the predictions, which are losses; labels are not looked at."""

    def __init__(
        self, name: str = "loss", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        for pred in [preds] if hasattr(preds, "asnumpy") else preds:
            values = host(pred)
            self._add(compensated_sum(values.ravel()), values.size)


@register
class Torch(Loss):
    """`Loss` under the name 'torch'."""

    def __init__(
        self, name: str = "torch", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """`Loss` under the name 'caffe'."""

    def __init__(
        self, name: str = "caffe", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)
