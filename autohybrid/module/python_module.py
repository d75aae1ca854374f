"""PythonModule and PythonLossModule: modules written in Python, for use between others in a SequentialModule."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.module.base_module import _RATE, BaseModule
from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer import Uniform


class PythonModule(BaseModule):
    """A module without parameters. Subclasses define `forward`, `backward`, `get_outputs`, `get_input_grads` and
    `_compute_output_shapes` (from `self._data_shapes` and `self._label_shapes`)."""

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: list[str],
        logger: Any = logging,
    ) -> None:
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = output_names
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._data_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """The shapes of the data, once bound."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """The shapes of the labels, once bound."""
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """The shapes of the outputs, once bound."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Nothing: there are no parameters."""
        return {}, {}

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Nothing to set, unless a subclass has parameters."""
        self.params_initialized = True

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = _RATE, force_init: bool = False
    ) -> None:
        """Nothing to update, unless a subclass has parameters."""
        self.optimizer_initialized = True

    def update(self) -> None:
        """Nothing to update, unless a subclass has parameters."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs, if the module takes labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("a PythonModule cannot use labels that are split over devices")
        eval_metric.update(labels, self.get_outputs())

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Note the shapes. Raises AssertionError when their names are not the module's."""
        if not force_rebind and self._already_bound():
            return
        if grad_req != "write":
            raise AssertionError(f"a PythonModule can only write gradients, not {grad_req!r}")
        _require_names("data", self._data_names, data_shapes)
        if label_shapes is not None:
            _require_names("label", self._label_names or [], label_shapes)
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._data_shapes = data_shapes
        self._label_shapes = label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> Any:
        """The (name, shape) pairs of the outputs."""
        raise self._missing("_compute_output_shapes")


class PythonLossModule(PythonModule):
    """A loss: its output is its data, and the gradient is `grad_func(scores, labels)` (an array of any kind).

    A subclass may define `_backward_impl` instead, which sets `self._scores_grad`.
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(data_names) != 1 or len(label_names) != 1:
            raise AssertionError("a PythonLossModule takes one array of scores and one of labels")
        if grad_func is not None and not callable(grad_func):
            raise AssertionError(f"grad_func must be a function, not {type(grad_func).__name__}")
        self._name = name
        self._grad_func = grad_func
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None

    def _compute_output_shapes(self) -> Any:
        return [(f"{self._name}_output", self._data_shapes[0][1])]

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Take the scores, and in train mode the labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The scores."""
        _require_one_device(merge_multi_context)
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradient of the scores. Raises AssertionError for head gradients: a loss has none."""
        if out_grads is not None:
            raise AssertionError("a loss module takes no out_grads")
        self._require("for_training")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise self._missing("_backward_impl")
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, NDArray) else nd.array(gradient)

    def get_input_grads(self, merge_multi_context: bool = True) -> list[NDArray]:
        """The gradient of the scores."""
        _require_one_device(merge_multi_context)
        return [self._scores_grad]


def _require_names(kind: str, names: list[str], shapes: Any) -> None:
    given = [described[0] for described in shapes]
    if given != names:
        raise AssertionError(f"{kind}_shapes have the names {given}, but the module takes {names}")


def _require_one_device(merged: bool) -> None:
    if merged is not True:
        raise AssertionError("a PythonLossModule has one device: merge_multi_context must be True")
