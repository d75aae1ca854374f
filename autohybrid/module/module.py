"""Module: a symbol with its parameters, executors on one or several devices, and an optimizer."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.context import Context, cpu
from autohybrid.files import write_atomically
from autohybrid.module.base_module import _RATE, BaseModule, check_input_names, parse_descriptions
from autohybrid.module.executor_group import DataParallelExecutorGroup
from autohybrid.ndarray import NDArray
from autohybrid.optim import optimizer as optimizers
from autohybrid.optim.initializer import InitDesc, Uniform
from autohybrid.training.checkpoint import load_checkpoint, params_file
from autohybrid.training.io import DataDesc
from autohybrid.training.kvstore_choice import choose_kvstore


class Module(BaseModule):
    """Trains and runs a symbol.

    data_names, label_names   the arguments of the symbol that come from batches
    context                   a device, or several that share each batch (`work_load_list`: in which proportion)
    fixed_param_names         parameters that are not trained
    state_names               arguments that `set_states` sets
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] = cpu(),  # noqa: B008 - a device is a value
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list = list(work_load_list or [1] * len(self._context))
        if len(self._work_load_list) != len(self._context):
            raise AssertionError(f"work_load_list needs one number for each of the {len(self._context)} devices")
        self._symbol = symbol
        self._data_names = list(data_names or ())
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        check_input_names(symbol, self._data_names, "data", True)
        check_input_names(symbol, self._label_names, "label", False)
        check_input_names(symbol, self._state_names, "state", True)
        check_input_names(symbol, self._fixed_param_names, "fixed_param", True)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params: dict[str, NDArray] | None = None
        self._aux_params: dict[str, NDArray] | None = None
        self._params_dirty = False
        self._compression_params = compression_params
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore = False
        self._updater: Any = None
        self._preload_opt_states: str | None = None
        self._grad_req: Any = None
        self._reset_bind()

    def _reset_bind(self) -> None:
        self.binded = False
        self._exec_group: Any = None
        self._data_shapes: list[DataDesc] = []
        self._label_shapes: list[DataDesc] | None = None

    # -- files -------------------------------------------------------------------------------------------------------
    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """A module from a checkpoint; `kwargs` are those of the constructor."""
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params, module._aux_params = arguments, states
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return module

    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True
    ) -> None:
        """Write the symbol, the parameters and perhaps the optimizer's states."""
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        self.save_params(params_file(prefix, epoch))
        if save_optimizer_states:
            self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")
        self.logger.info('saved checkpoint to "%s"', params_file(prefix, epoch))

    def save_optimizer_states(self, fname: str) -> None:
        """Write the optimizer's states to a file."""
        self._require("optimizer_initialized")
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            write_atomically(fname, self._updater.get_states())

    def load_optimizer_states(self, fname: str) -> None:
        """Read the optimizer's states from a file."""
        self._require("optimizer_initialized")
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            self._updater.set_states(Path(fname).read_bytes())

    # -- names and shapes --------------------------------------------------------------------------------------------
    @property
    def data_names(self) -> list[str]:
        """Names of the data."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names  # type: ignore[no-any-return]

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data the module is bound for."""
        self._require("binded")
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels the module is bound for."""
        self._require("binded")
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        self._require("binded")
        return self._exec_group.get_output_shapes()  # type: ignore[no-any-return]

    # -- parameters --------------------------------------------------------------------------------------------------
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        self._require("params_initialized")
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params or {}, self._aux_params or {}

    def _sync_params_from_devices(self) -> None:
        self._exec_group.get_params(self._arg_params, self._aux_params)
        self._params_dirty = False

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from arrays by name, those that are not given (or all) from the initializer.

        Arrays of other names are left alone: fine-tuning gives all of a larger model. Raises RuntimeError for a
        missing name unless `allow_missing`.
        """
        if self.params_initialized and not force_init:
            warnings.warn(
                "the parameters are initialized already; init_params without force_init does nothing",
                UserWarning,
                stacklevel=2,
            )
            return
        self._require("binded")
        attrs = self._symbol.attr_dict()
        for own, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted((own or {}).items()):
                _fill(InitDesc(name, attrs.get(name)), array, given, initializer, allow_missing)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    def set_params(
        self,
        arg_params: Any,
        aux_params: Any,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        if not allow_missing:
            self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("the parameters are initialized already; set_params does nothing", UserWarning, stacklevel=2)
            return
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    # -- binding -----------------------------------------------------------------------------------------------------
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
        if force_rebind:
            self._reset_bind()
        if self._already_bound():
            return
        if inputs_need_grad and not for_training:
            raise AssertionError("gradients of the inputs need for_training=True")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = parse_descriptions(
            self._data_names, self._label_names, data_shapes, label_shapes
        )
        self._exec_group = DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            self._data_shapes,
            self._label_shapes,
            self._param_names,
            for_training,
            inputs_need_grad,
            shared_module._exec_group if shared_module is not None else None,
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=grad_req,
            state_names=self._state_names,
        )
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params, self._aux_params = shared_module._arg_params, shared_module._aux_params
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params)
        else:
            group = self._exec_group
            self._arg_params = _host_zeros(self._param_names, group.param_arrays)
            self._aux_params = _host_zeros(self._aux_names, group.aux_arrays)
        self.binded = True

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Bind anew for other shapes, with the same parameters."""
        self._require("binded")
        self._data_shapes, self._label_shapes = parse_descriptions(
            self._data_names, self._label_names, data_shapes, label_shapes
        )
        self._exec_group.reshape(self._data_shapes, self._label_shapes)

    # -- the optimizer -----------------------------------------------------------------------------------------------
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = _RATE, force_init: bool = False
    ) -> None:
        """Install an optimizer (a name with parameters, or an instance); gradients are divided by the batch size."""
        self._require("binded", "params_initialized")
        if self._already_optimized(force_init):
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        shapes = [array.shape for array in (self._arg_params or {}).values()]
        self._kvstore, self._update_on_kvstore = choose_kvstore(kvstore, len(self._context), shapes)
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._updater = None if self._update_on_kvstore else optimizers.get_updater(self._optimizer)
        if self._kvstore is not None:
            self._fill_kvstore()
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def _make_optimizer(self, optimizer: Any, settings: Any) -> optimizers.Optimizer:
        scale = 1.0 / self._exec_group.batch_size
        # Without a store each device's copy of a parameter has an index, and so a state, of its own.
        copies = 1 if self._update_on_kvstore else len(self._context)
        names = {
            index * copies + k: name for index, name in enumerate(self._exec_group.param_names) for k in range(copies)
        }
        if isinstance(optimizer, str):
            settings = {"rescale_grad": scale, **dict(settings)}
            return optimizers.create(optimizer, sym=self._symbol, param_idx2name=names, **settings)
        if not isinstance(optimizer, optimizers.Optimizer):
            raise AssertionError(f"the optimizer must be a name or an Optimizer, not {type(optimizer).__name__}")
        if optimizer.rescale_grad != scale:
            warnings.warn(
                f"the optimizer's rescale_grad is {optimizer.rescale_grad}, not 1 / batch size ({scale})",
                UserWarning,
                stacklevel=3,
            )
        optimizer.idx2name = optimizer.idx2name or names
        return optimizer

    def _fill_kvstore(self) -> None:
        if self._compression_params:
            self._kvstore.set_gradient_compression(self._compression_params)
        if self._update_on_kvstore:
            self._kvstore.set_optimizer(self._optimizer)
        arguments = self._arg_params or {}
        for name, arrays in zip(self._exec_group.param_names, self._exec_group.param_arrays):
            if self._update_on_kvstore:
                self._kvstore.broadcast(name, arguments[name], out=arrays)
            else:
                self._kvstore.init(name, arguments[name])

    def borrow_optimizer(self, shared_module: Module) -> None:
        """Use another module's optimizer and its states."""
        shared_module._require("optimizer_initialized")
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self.optimizer_initialized = True

    # -- running -----------------------------------------------------------------------------------------------------
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run on a batch; the module is bound anew when its shapes are others."""
        self._require("binded", "params_initialized")
        shapes = _batch_shapes(data_batch)
        if [tuple(d.shape) for d in self._data_shapes] != shapes:
            self.reshape(*self._new_descriptions(data_batch, shapes))
        self._exec_group.forward(data_batch, is_train)

    def _new_descriptions(self, batch: Any, shapes: list[tuple[int, ...]]) -> tuple[Any, Any]:
        data = getattr(batch, "provide_data", None) or [
            DataDesc(d.name, shape, d.dtype, d.layout) for d, shape in zip(self._data_shapes, shapes)
        ]
        labels = getattr(batch, "provide_label", None)
        if not labels and getattr(batch, "label", None):
            labels = [
                DataDesc(d.name, array.shape, d.dtype, d.layout)
                for d, array in zip(self._label_shapes or (), batch.label)
            ]
        return data, labels or None

    def backward(self, out_grads: Any = None) -> None:
        self._require("binded", "params_initialized")
        self._exec_group.backward(out_grads=out_grads)

    def update(self) -> None:
        self._require("binded", "params_initialized", "optimizer_initialized")
        self._params_dirty = True
        group = self._exec_group
        rows = [
            (index, name, weights, grads)
            for index, (name, weights, grads) in enumerate(
                zip(group.param_names, group.param_arrays, group.grad_arrays)
            )
            if grads[0] is not None
        ]
        for index, name, weights, grads in rows if self._kvstore is not None else ():
            target = weights if self._update_on_kvstore else grads
            self._kvstore.pushpull(name, grads, out=target, priority=-index)
        if self._update_on_kvstore:
            return
        devices = len(self._context)
        for k in range(devices):
            indices = [index * devices + k for index, _, _, _ in rows]
            if indices:
                self._updater(indices, [grads[k] for *_, grads in rows], [weights[k] for _, _, weights, _ in rows])

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        self._require("binded", "params_initialized")
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        self._require("binded", "params_initialized", "inputs_need_grad")
        return self._exec_group.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        self._require("binded", "params_initialized")
        return self._exec_group.get_states(merge_multi_context)  # type: ignore[no-any-return]

    def set_states(self, states: Any = None, value: Any = None) -> None:
        self._require("binded", "params_initialized")
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        self._require("binded")
        self._exec_group.install_monitor(mon)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Fetch the rows of row_sparse parameters that a batch needs, by the dict that `sparse_row_id_fn` gives."""
        self._require("binded")
        if sparse_row_id_fn is None:
            return
        if self._kvstore is None or not self._update_on_kvstore:
            warnings.warn("no parameter is on a store, so sparse_row_id_fn is not needed", UserWarning, stacklevel=2)
            return
        for name, rows in sparse_row_id_fn(data_batch).items():
            arrays = self._exec_group.param_arrays[self._exec_group.param_names.index(name)]
            if arrays[0].stype == "row_sparse":
                self._kvstore.row_sparse_pull(name, arrays, row_ids=rows)
            else:
                warnings.warn(f"`{name}` is not row_sparse, so its rows need not be fetched", UserWarning, stacklevel=2)


def _fill(desc: InitDesc, array: NDArray, given: Mapping[str, NDArray] | None, init: Any, allow_missing: bool) -> None:
    if given is not None and desc in given:
        if given[desc] is not array:
            given[desc].astype(array.dtype).copyto(array)
        return
    if given is not None and not allow_missing:
        raise RuntimeError(f"`{desc}` is not among the parameters given; use allow_missing=True to initialize it")
    if init is not None:
        init(desc, array)


def _host_zeros(names: Sequence[str], arrays: Sequence[Sequence[NDArray]]) -> dict[str, NDArray]:
    firsts = [copies[0] for copies in arrays]
    return {n: nd.zeros(a.shape, cpu(), dtype=a.dtype, stype=a.stype) for n, a in zip(names, firsts)}


def _batch_shapes(batch: Any) -> list[tuple[int, ...]]:
    if not isinstance(batch, list):
        return [tuple(array.shape) for array in batch.data]
    shapes = [[tuple(array.shape) for array in each.data] for each in batch]
    if any(other != shapes[0] for other in shapes):
        raise AssertionError("all batches of a list must have the same shapes")
    return [(len(batch) * shape[0], *shape[1:]) for shape in shapes[0]]
