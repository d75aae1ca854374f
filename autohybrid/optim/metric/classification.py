"""Metrics of predicted classes: Accuracy, TopKAccuracy, F1, MCC, PCC."""

from __future__ import annotations

import math
from typing import Any

import numpy

from autohybrid.optim.metric.base import EvalMetric, Host, alias, check_label_shapes, host, register
from autohybrid.tensor.shapes import normalize_axis


@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of predictions that are right. Predictions of another shape than the labels are scores along `axis`."""

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(name, axis=axis, output_names=output_names, label_names=label_names, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            found, wanted = host(pred), host(label)
            if found.shape != wanted.shape:
                found = found.argmax(axis=normalize_axis(self.axis, found.ndim))
            found, wanted = found.astype("int32").ravel(), wanted.astype("int32").ravel()
            check_label_shapes(wanted, found)
            self._add((found == wanted).sum(), len(found))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The part of labels that are among the `top_k` (at least 2) classes with the highest scores."""

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(name, top_k=top_k, output_names=output_names, label_names=label_names, has_global_stats=True)
        if top_k <= 1:
            raise AssertionError("TopKAccuracy needs top_k of at least 2; use Accuracy for 1")
        self.top_k = top_k
        self.name += f"_{top_k}"

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            scores, wanted = host(pred).astype("float32"), host(label).astype("int32")
            if scores.ndim > 2:
                raise AssertionError(f"predictions have at most 2 dimensions, not {scores.ndim}")
            ranked = numpy.argpartition(scores, -self.top_k)
            check_label_shapes(wanted, ranked)
            best = ranked if ranked.ndim == 1 else ranked[:, -min(ranked.shape[1], self.top_k) :]
            hits = best.ravel() == wanted.ravel() if ranked.ndim == 1 else best == wanted.reshape(-1, 1)
            self._add(hits.sum(), len(ranked))


class _Confusion:
    """Counts of a binary classifier: true and false positives and negatives."""

    __slots__ = ("fn", "fp", "tn", "tp")

    def __init__(self) -> None:
        self.tp = self.fp = self.fn = self.tn = 0

    def add(self, label: Host, pred: Host) -> None:
        """`label` holds 0 or 1, `pred` two scores a row."""
        check_label_shapes(label, pred)
        if len(numpy.unique(label)) > 2:
            raise ValueError("this metric is for two classes, but the labels hold more")
        found, wanted = pred.argmax(axis=1) == 1, label.ravel() == 1
        self.tp += int((found & wanted).sum())
        self.fp += int((found & ~wanted).sum())
        self.fn += int((~found & wanted).sum())
        self.tn += int((~found & ~wanted).sum())

    @property
    def total(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where it is not defined."""
        precision = self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0
        recall = self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def mcc(self) -> float:
        """Matthews' correlation; a factor of the denominator that is zero counts as one."""
        factors = (self.tp + self.fp, self.tp + self.fn, self.tn + self.fp, self.tn + self.fn)
        return (self.tp * self.tn - self.fp * self.fn) / math.sqrt(math.prod(float(f) for f in factors if f))


class _Binary(EvalMetric):
    """A score of a confusion matrix: averaged over batches ('macro'), or of all samples together (otherwise)."""

    def __init__(self, name: str, output_names: list[str] | None, label_names: list[str] | None, average: str) -> None:
        self.average = average
        super().__init__(name, output_names=output_names, label_names=label_names, has_global_stats=True)

    def _score(self, counts: _Confusion) -> float:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        batch = _Confusion()
        counted = (batch,) if self.average == "macro" else (self._local, self._global)
        for label, pred in zip(labels, preds):
            for counts in counted:
                counts.add(host(label).astype("int32"), host(pred))
        if self.average == "macro":
            self._add(self._score(batch), 1)
            return
        self.num_inst, self.global_num_inst = self._local.total, self._global.total
        self.sum_metric = self._score(self._local) * self.num_inst
        self.global_sum_metric = self._score(self._global) * self.global_num_inst

    def reset(self) -> None:
        self._global = _Confusion()
        super().reset()

    def reset_local(self) -> None:
        self._local = _Confusion()
        super().reset_local()


@register
class F1(_Binary):
    """The F1 score of a binary classifier."""

    def __init__(
        self,
        name: str = "f1",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: _Confusion) -> float:
        return counts.f1()


@register
class MCC(_Binary):
    """Matthews' correlation coefficient of a binary classifier."""

    def __init__(
        self,
        name: str = "mcc",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts: _Confusion) -> float:
        return counts.mcc()


def _pearson_of_confusion(matrix: Host) -> float:
    """The multi-class generalisation of Matthews' correlation; nan when one side has only one class."""
    n, rows, columns = matrix.sum(), matrix.sum(axis=1), matrix.sum(axis=0)
    spread = float((rows * (n - rows)).sum()) * float((columns * (n - columns)).sum())
    if spread == 0:
        return math.nan
    return float((matrix.diagonal() * n - rows * columns).sum()) / math.sqrt(spread)


@register
class PCC(EvalMetric):
    """Pearson's correlation of a confusion matrix of any number of classes (MCC for two)."""

    _local: Host
    _global: Host

    def __init__(
        self,
        name: str = "pcc",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        self._classes = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            wanted, found = host(label).astype("int32"), host(pred)
            found = found.argmax(axis=1) if found.shape != wanted.shape else found.astype("int32")
            self._grow(int(max(found.max(), wanted.max())) + 1)
            for matrix in (self._local, self._global):
                numpy.add.at(matrix, (found.ravel(), wanted.ravel()), 1)
        self._add(0.0, 1)
        self.sum_metric = _pearson_of_confusion(self._local) * self.num_inst
        self.global_sum_metric = _pearson_of_confusion(self._global) * self.global_num_inst

    def _grow(self, classes: int) -> None:
        more = classes - self._classes
        if more > 0:
            self._local, self._global = numpy.pad(self._local, (0, more)), numpy.pad(self._global, (0, more))
            self._classes = classes

    def reset(self) -> None:
        self._global = numpy.zeros((self._classes, self._classes))
        super().reset()

    def reset_local(self) -> None:
        self._local = numpy.zeros((self._classes, self._classes))
        super().reset_local()
