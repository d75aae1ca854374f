"""Which metrics an estimator and its handlers watch, and in which direction a metric improves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from autohybrid.optim.metric import CompositeEvalMetric, EvalMetric


def checked_metrics(metrics: Any) -> list[Any]:
    """A metric, a composite of metrics, a list or None as a list. Raises ValueError for anything else."""
    if isinstance(metrics, CompositeEvalMetric):
        return [single for metric in metrics.metrics for single in checked_metrics(metric)]
    if isinstance(metrics, EvalMetric):
        return [metrics]
    listed = list(metrics or [])
    wrong = next((m for m in listed if not isinstance(m, EvalMetric)), None)
    if wrong is not None:
        raise ValueError(f"metrics must be metrics of mx.metric, not {type(wrong).__name__} {wrong!r}")
    return listed


def refuse_foreign_metrics(handler: Any, known: Iterable[Any]) -> None:
    """Raises ValueError when a handler watches a metric that the estimator does not update."""
    own = {id(metric) for metric in known}
    for name in dir(handler):
        if "metric" not in name and "monitor" not in name:
            continue
        value = getattr(handler, name)
        for metric in value if isinstance(value, list) else [value]:
            if isinstance(metric, EvalMetric) and id(metric) not in own:
                raise ValueError(
                    f"{type(handler).__name__} watches {metric}, which the estimator does not update; take one of its "
                    "train_metrics or val_metrics"
                )


def improvement(mode: str, metric: Any) -> Any:
    """`numpy.less` or `numpy.greater`: how a better value of `metric` compares with a worse one.

    `mode` is 'min', 'max', or 'auto': then accuracies and F1 scores should grow and everything else should fall.
    """
    if mode == "min":
        return np.less
    if mode == "max":
        return np.greater
    name = str(metric.get()[0])
    if mode != "auto":
        warnings.warn(f"mode {mode!r} is unknown; 'auto' is used instead", RuntimeWarning, stacklevel=3)
    grows = "acc" in name.lower() or "f1" in name.lower()
    warnings.warn(
        f"{name} is taken to improve when it {'grows' if grows else 'falls'}; give mode='min' or mode='max' to be sure",
        stacklevel=3,
    )
    return np.greater if grows else np.less


def worst(compare: Any) -> float:
    """The value that every other one improves on."""
    return float("inf") if compare is np.less else float("-inf")
