"""EvalMetric: a running sum and count, since the start and since the last local reset; the registry of metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from autohybrid.registry import get_alias_func, get_create_func, get_register_func

Arrays = Sequence[Any]
Host = numpy.ndarray[Any, Any]


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> tuple[Any, Any]:
    """Raise ValueError when the lengths (or with `shape` the shapes) differ; with `wrap`, lone arrays become lists."""
    have = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if have[0] != have[1]:
        raise ValueError(f"labels and predictions differ: {have[0]} against {have[1]}")
    if wrap:
        labels = [labels] if hasattr(labels, "asnumpy") else labels
        preds = [preds] if hasattr(preds, "asnumpy") else preds
    return labels, preds


def host(array: Any) -> Host:
    """The values of an array (`nd`, `mx.np` or anything array-like) in NumPy."""
    return array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


#: Longer sums are taken in double precision; they differ from compensated ones in the last digit, and seldom.
_COMPENSATED = 1024


def compensated_sum(values: Host) -> float:
    """The sum of a vector in its own precision with Kahan's compensation: bit for bit what MXNet's `sum` gives."""
    if len(values) > _COMPENSATED or values.dtype.kind != "f":
        return float(values.sum(dtype="float64").astype(values.dtype))
    total = lost = values.dtype.type(0)
    for value in values:
        corrected = value - lost
        raised = total + corrected
        lost = (raised - total) - corrected
        total = raised
    return float(total)


class EvalMetric:
    """Base of the metrics: `update(labels, preds)` adds, `get()` gives (name, value since the last local reset).

    `get_global()` counts from `reset()` on, whatever `reset_local()` did in between (metrics that keep it). Subclasses
    define `update`, usually with `self._add(sum, count)`.
    """

    def __init__(
        self, name: str, output_names: list[str] | None = None, label_names: list[str] | None = None, **kwargs: Any
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """The settings, enough for `mx.metric.create(**config)`."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Update from named arrays: those in `label_names` and `output_names`, or all of them."""
        outputs = list(pred) if self.output_names is None else self.output_names
        inputs = list(label) if self.label_names is None else self.label_names
        self.update([label[name] for name in inputs], [pred[name] for name in outputs])

    def update(self, labels: Any, preds: Any) -> None:
        """Add a batch: a list of label arrays and a list of prediction arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define update(self, labels, preds)")

    def _add(self, total: float, count: float) -> None:
        # float(): NumPy scalars of half or single precision would accumulate in their own precision.
        self.sum_metric += float(total)
        self.global_sum_metric += float(total)
        self.num_inst += count
        self.global_num_inst += count

    def reset(self) -> None:
        """Forget everything."""
        self.global_num_inst: float = 0
        self.global_sum_metric: float = 0.0
        self.reset_local()

    def reset_local(self) -> None:
        """Forget what `get()` counts, keep what `get_global()` counts."""
        self.num_inst: float = 0
        self.sum_metric: float = 0.0

    def _value(self, total: float, count: float) -> float:
        return math.nan if count == 0 else total / count

    def get(self) -> tuple[Any, Any]:
        """(name, value); the value is nan before the first update."""
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """(name, value since `reset()`); the same as `get()` for metrics that keep no global sums."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> list[tuple[str, Any]]:
        """`get()` as a list of (name, value)."""
        return _pairs(*self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """`get_global()` as a list of (name, value)."""
        return _pairs(*self.get_global())


def _pairs(name: Any, value: Any) -> list[tuple[str, Any]]:
    names = name if isinstance(name, list) else [name]
    return list(zip(names, value if isinstance(value, list) else [value]))


register = get_register_func(EvalMetric, "metric")
alias = get_alias_func(EvalMetric, "metric")
create_registered = get_create_func(EvalMetric, "metric")
