"""Metrics made of other things: several metrics (CompositeEvalMetric), a Python function (CustomMetric, np)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autohybrid.optim.metric.base import EvalMetric, alias, check_label_shapes, create_registered, host, register


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric from a name, an instance, a function `(label, pred) -> value`, or a list of these."""
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for each in metric:
            composite.add(create(each, *args, **kwargs))
        return composite
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    return create_registered(metric, *args, **kwargs)  # type: ignore[no-any-return]


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics updated together; `get()` gives lists of names and values."""

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Add a metric (anything that `create` takes)."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric at `index`. Raises IndexError when there is none."""
        if not -len(self.metrics) <= index < len(self.metrics):
            raise IndexError(f"metric {index} was asked for, but there are {len(self.metrics)}")
        return self.metrics[index]

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        if self.label_names is not None:
            label = {name: array for name, array in label.items() if name in self.label_names}
        if self.output_names is not None:
            pred = {name: array for name, array in pred.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(label, pred)

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        for metric in self.metrics:
            metric.reset_local()

    def get(self) -> tuple[list[str], list[Any]]:
        return _unzip([pair for metric in self.metrics for pair in metric.get_name_value()])

    def get_global(self) -> tuple[list[str], list[Any]]:
        return _unzip([pair for metric in self.metrics for pair in metric.get_global_name_value()])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


def _unzip(pairs: list[tuple[str, Any]]) -> tuple[list[str], list[Any]]:
    return [name for name, _ in pairs], [value for _, value in pairs]


@register
class CustomMetric(EvalMetric):
    """A function of NumPy arrays `(label, pred)` that gives a value, or a sum and a count."""

    def __init__(
        self,
        feval: Callable[[Any, Any], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        if name is None:
            name = feval.__name__
            name = f"custom({name})" if "<" in name else name
        super().__init__(
            name,
            output_names,
            label_names,
            feval=feval,
            allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for pred, label in zip(preds, labels):
            value = self._feval(host(label), host(pred))
            self._add(*(value if isinstance(value, tuple) else (value, 1)))

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"the metric `{self.name}` is a Python function, which has no configuration")


def np(
    numpy_feval: Callable[[Any, Any], Any], name: str | None = None, allow_extra_outputs: bool = False
) -> CustomMetric:
    """A metric from a function of NumPy arrays `(label, pred)`."""

    def feval(label: Any, pred: Any) -> Any:
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)
