"""BaseModule: training, evaluation and prediction loops over any module."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.optim import metric as metrics
from autohybrid.optim.initializer import Uniform
from autohybrid.training.checkpoint import BatchEndParam, save_params_file, split_params
from autohybrid.training.io import DataBatch, DataDesc, DataIter

_RATE = (("learning_rate", 0.01),)


class BaseModule:
    """A symbol that can be bound, initialized, run and updated: bind -> init_params -> init_optimizer -> fit."""

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None
        self._total_exec_bytes = 0

    # -- what subclasses define --------------------------------------------------------------------------------------
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run on a batch."""
        raise self._missing("forward")

    def backward(self, out_grads: Any = None) -> None:
        """Compute gradients."""
        raise self._missing("backward")

    def update(self) -> None:
        """Update the parameters with the gradients."""
        raise self._missing("update")

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
        """Make executors for these shapes."""
        raise self._missing("bind")

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from arrays or an initializer."""
        raise self._missing("init_params")

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = _RATE, force_init: bool = False
    ) -> None:
        """Install an optimizer."""
        raise self._missing("init_optimizer")

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Arguments and auxiliary states."""
        raise self._missing("get_params")

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last forward."""
        raise self._missing("get_outputs")

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the data."""
        raise self._missing("get_input_grads")

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs and these labels."""
        raise self._missing("update_metric")

    def install_monitor(self, mon: Any) -> None:
        """Let a Monitor watch."""
        raise self._missing("install_monitor")

    def _missing(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} must define `{name}`")

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Get ready for a batch: fetch the rows of row_sparse parameters that it needs."""
        if sparse_row_id_fn is not None:
            warnings.warn("sparse_row_id_fn has no effect for this module", UserWarning, stacklevel=2)

    @property
    def symbol(self) -> Any:
        """The symbol."""
        return self._symbol

    # -- loops -------------------------------------------------------------------------------------------------------
    def forward_backward(self, data_batch: Any) -> None:
        """`forward` in train mode, then `backward`."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def _require(self, *states: str) -> None:
        for state in states:
            if not getattr(self, state):
                raise AssertionError(f"{type(self).__name__} is not ready: `{state}` is False; {_READY[state]}")

    def _already_bound(self) -> bool:
        """Whether `bind` was done before; a second one is only warned about."""
        if self.binded:
            self.logger.warning("the module is bound already; bind does nothing (force_rebind=True binds it anew)")
        return self.binded

    def _already_optimized(self, force_init: bool) -> bool:
        """Whether an optimizer stays as it was installed; installing another is only warned about."""
        kept = self.optimizer_initialized and not force_init
        if kept:
            self.logger.warning(
                "an optimizer is installed already; init_optimizer does nothing (force_init=True installs another)"
            )
        return kept

    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        score_end_callback: Any = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Any = None,
    ) -> list[tuple[str, Any]]:
        """Evaluate on an iterator; gives (name, value) of the metrics."""
        self._require("binded", "params_initialized")
        metric = metrics.create(eval_metric)
        metric.reset()
        count = 0
        for number, batch in self._batches(eval_data, num_batch, reset, sparse_row_id_fn):
            count = number + 1
            self.forward(batch, is_train=False)
            self._update_metric_of(metric, batch)
            _call(batch_end_callback, BatchEndParam(epoch, number, metric, locals()))
        _call(score_end_callback, BatchEndParam(epoch, count, metric, locals()))
        return metric.get_name_value()

    def _batches(self, data: Any, limit: int | None, reset: bool, row_ids: Any) -> Iterator[tuple[int, Any]]:
        if reset:
            data.reset()
        for number, batch in enumerate(data):
            if number == limit:
                return
            self.prepare(batch, sparse_row_id_fn=row_ids)
            yield number, batch

    def _update_metric_of(self, metric: Any, batch: Any) -> None:
        if isinstance(batch, list):
            self.update_metric(metric, [each.label for each in batch], pre_sliced=True)
        else:
            self.update_metric(metric, batch.label)

    def iter_predict(
        self, eval_data: Any, num_batch: int | None = None, reset: bool = True, sparse_row_id_fn: Any = None
    ) -> Iterator[tuple[list[NDArray], int, Any]]:
        """(outputs without padding, number, batch) for each batch of an iterator."""
        self._require("binded", "params_initialized")
        for number, batch in self._batches(eval_data, num_batch, reset, sparse_row_id_fn):
            self.forward(batch, is_train=False)
            yield [out[: out.shape[0] - (batch.pad or 0)] for out in self.get_outputs()], number, batch

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Any = None,
    ) -> Any:
        """The outputs for an array or for all batches of an iterator, joined unless `merge_batches=False`."""
        self._require("binded", "params_initialized")
        if isinstance(eval_data, (NDArray, np.ndarray)):
            self.forward(DataBatch([eval_data if isinstance(eval_data, NDArray) else nd.array(eval_data)]))
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError(f"predict takes an array or a DataIter, not {type(eval_data).__name__}")
        results = [
            [out.copy() for out in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not results or not merge_batches:
            return results
        if len({len(outputs) for outputs in results}) > 1:
            raise AssertionError("the batches have different numbers of outputs; use merge_batches=False")
        joined = [nd.concatenate(list(parts)) for parts in zip(*results)]
        return joined if len(joined) > 1 or always_output_list else joined[0]

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = _RATE,
        eval_end_callback: Any = None,
        eval_batch_end_callback: Any = None,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Any = None,
    ) -> None:
        """Train on an iterator for epochs `begin_epoch` to `num_epoch`, evaluating after each."""
        if num_epoch is None:
            raise AssertionError("fit needs num_epoch, the number of epochs")
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        metric = metrics.create(eval_metric)
        for epoch in range(begin_epoch, num_epoch):
            self._train_epoch(train_data, metric, epoch, batch_end_callback, monitor, sparse_row_id_fn)
            arguments, states = self.get_params()
            self.set_params(arguments, states)
            _call(epoch_end_callback, epoch, self.symbol, arguments, states)
            if eval_data is not None:
                found = self.score(
                    eval_data,
                    eval_metric if validation_metric is None else validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                for name, value in found:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(self, data: Any, metric: Any, epoch: int, callback: Any, monitor: Any, row_ids: Any) -> None:
        start = time.time()
        metric.reset()
        totals: list[tuple[str, Any]] = []
        # One batch is taken only when the last one is done with: iterators may reuse their arrays.
        for number, batch in enumerate(data):
            self.prepare(batch, sparse_row_id_fn=row_ids)
            if monitor is not None:
                monitor.tic()
            self.forward_backward(batch)
            self.update()
            self._update_metric_of(metric, batch)
            if monitor is not None:
                monitor.toc_print()
            totals = metric.get_global_name_value()
            _call(callback, BatchEndParam(epoch, number, metric, locals()))
        for name, value in totals:
            self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
        self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - start)

    # -- parameters --------------------------------------------------------------------------------------------------
    def set_params(
        self,
        arg_params: Any,
        aux_params: Any,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from arrays by name."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def save_params(self, fname: str) -> None:
        """Write the parameters to a file."""
        save_params_file(fname, *self.get_params())

    def load_params(self, fname: str) -> None:
        """Read the parameters from a file."""
        self.set_params(*split_params(fname))

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The states, which most modules do not have."""
        self._require("binded", "params_initialized")
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states. Raises AssertionError for a module that has none."""
        self._require("binded", "params_initialized")
        if states or value:
            raise AssertionError(f"{type(self).__name__} has no states")


_READY = {
    "binded": "call bind() first",
    "params_initialized": "call init_params() first",
    "optimizer_initialized": "call init_optimizer() first",
    "inputs_need_grad": "call bind(inputs_need_grad=True) first",
    "for_training": "call bind(for_training=True) first",
}


def _call(callbacks: Any, *args: Any) -> None:
    for callback in callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]:
        if callback is not None:
            callback(*args)


def check_input_names(symbol: Any, names: Sequence[str], kind: str, required: bool) -> None:
    """Raise ValueError (or warn) for `names` that the symbol has no argument for."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        inputs = [a for a in arguments if not a.endswith(("_weight", "_bias", "_gamma", "_beta"))]
        message = (
            f"{kind}_names of the Module has {name!r}, which is not an argument of the symbol; did you mean one of "
            f"{', '.join(inputs)}?"
        )
        if required:
            raise ValueError(message)
        warnings.warn(message, UserWarning, stacklevel=3)


def parse_descriptions(
    data_names: Sequence[str], label_names: Sequence[str], data_shapes: Any, label_shapes: Any
) -> tuple[list[DataDesc], list[DataDesc] | None]:
    """The shapes as DataDescs. Raises ValueError when the data's names differ from `data_names`, warns for labels."""
    data = [shape if isinstance(shape, DataDesc) else DataDesc(*shape) for shape in data_shapes]
    labels = None
    if label_shapes is not None:
        labels = [shape if isinstance(shape, DataDesc) else DataDesc(*shape) for shape in label_shapes]
    if sorted(data_names) != sorted(d.name for d in data):
        raise ValueError(f"data_shapes {data} do not have the names {list(data_names)}")
    if sorted(label_names) != sorted(d.name for d in labels or ()):
        warnings.warn(f"label_shapes {labels} do not have the names {list(label_names)}", UserWarning, stacklevel=3)
    return data, labels
