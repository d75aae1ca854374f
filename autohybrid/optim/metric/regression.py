"""Metrics of predicted numbers: MAE, MSE, RMSE and Pearson's correlation."""

from __future__ import annotations

import math
from typing import Any

import numpy

from autohybrid.optim.metric.base import EvalMetric, Host, alias, check_label_shapes, host, register


class _Distance(EvalMetric):
    """A distance of each pair of arrays, averaged over the pairs. Vectors count as columns."""

    def __init__(self, name: str, output_names: list[str] | None, label_names: list[str] | None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _distance(self, difference: Host) -> float:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            self._add(self._distance(_column(host(label)) - _column(host(pred))), 1)


def _column(values: Host) -> Host:
    return values.reshape(-1, 1) if values.ndim == 1 else values


@register
class MAE(_Distance):
    """The mean absolute error."""

    def __init__(
        self, name: str = "mae", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _distance(self, difference: Host) -> float:
        return float(numpy.abs(difference).mean())


@register
class MSE(_Distance):
    """The mean squared error."""

    def __init__(
        self, name: str = "mse", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _distance(self, difference: Host) -> float:
        return float((difference**2.0).mean())


@register
class RMSE(_Distance):
    """The root of the mean squared error."""

    def __init__(
        self, name: str = "rmse", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _distance(self, difference: Host) -> float:
        return float(numpy.sqrt((difference**2.0).mean()))


class _Moments:
    """Running means, sums of squares and of products of two sequences, one batch at a time (Welford)."""

    __slots__ = ("count", "means", "products", "squares")

    def __init__(self) -> None:
        self.count = 0
        self.means = [0.0, 0.0]
        self.squares = [0.0, 0.0]
        self.products = 0.0

    def add(self, first: Host, second: Host) -> None:
        self.count += len(first)
        before = [values - mean for values, mean in zip((first, second), self.means)]
        self.means = [mean + float((d / self.count).sum()) for mean, d in zip(self.means, before)]
        after = [values - mean for values, mean in zip((first, second), self.means)]
        self.squares = [s + float((b * a).sum()) for s, b, a in zip(self.squares, before, after)]
        # One factor with the mean before the batch, one with the mean after it: either pairing is exact.
        self.products += float((after[0] * before[1]).sum())

    def correlation(self) -> float:
        """Pearson's correlation of everything added."""
        rest = self.count - 1
        deviations = math.sqrt(self.squares[1] / rest) * math.sqrt(self.squares[0] / rest)
        return self.products / (rest * deviations)


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation: the mean over batches ('macro'), or of all values together ('micro')."""

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        labels, preds = check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            check_label_shapes(label, pred, False, True)
            wanted, found = (host(x).ravel().astype("float64") for x in (label, pred))
            if self.average == "macro":
                self._add(numpy.corrcoef(found, wanted)[0, 1], 1)
            else:
                self._moments.add(wanted, found)
                self._add(0.0, 1)

    def reset(self) -> None:
        self._moments = _Moments()
        super().reset()

    def get(self) -> tuple[str, float]:
        if self.average == "macro" or self.num_inst == 0:
            return super().get()
        return self.name, self._moments.correlation()
