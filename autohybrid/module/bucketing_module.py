"""BucketingModule: a symbol for each length of sequence, all with the same parameters."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import symbol as sym
from autohybrid.context import Context, cpu
from autohybrid.module.base_module import _RATE, BaseModule
from autohybrid.module.module import Module
from autohybrid.naming import NameManager
from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer import Uniform
from autohybrid.training.checkpoint import load_params, params_file

SymbolMaker = Callable[[Any], tuple[Any, Sequence[str] | None, Sequence[str] | None]]


class BucketingModule(BaseModule):
    """`sym_gen(bucket_key)` gives (symbol, data names, label names); each batch says its `bucket_key`.

    The default bucket should be the largest one: its arrays serve the others.
    """

    def __init__(
        self,
        sym_gen: SymbolMaker,
        default_bucket_key: Any = None,
        logger: Any = logging,
        context: Context | Sequence[Context] = cpu(),  # noqa: B008 - a device is a value
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise AssertionError("BucketingModule needs default_bucket_key, the key of the largest bucket")
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        self._settings: dict[str, Any] = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._make_module(default_bucket_key)  # refuses wrong names now
        self._buckets: dict[Any, Module] = {}
        self._curr_module: Any = None
        self._curr_bucket_key: Any = None
        self._params_dirty = False
        self._monitor: Any = None
        self._grad_req: Any = "write"

    def _call_sym_gen(self, key: Any) -> Any:
        with NameManager():  # so that each bucket's symbol has the same names
            return self._sym_gen(key)

    def _make_module(self, key: Any) -> Module:
        symbol, data_names, label_names = self._call_sym_gen(key)
        return Module(symbol, data_names, label_names, **self._settings)

    def _reset_bind(self) -> None:
        self.binded = False
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None

    # -- names and shapes: those of the bucket in use ------------------------------------------------------------------
    @property
    def data_names(self) -> Any:
        """Names of the data."""
        return self._curr_module.data_names if self.binded else self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self) -> Any:
        """Names of the outputs."""
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    @property
    def data_shapes(self) -> Any:
        """Descriptions of the data of the bucket in use."""
        self._require("binded")
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> Any:
        """Descriptions of the labels of the bucket in use."""
        self._require("binded")
        return self._curr_module.label_shapes

    @property
    def output_shapes(self) -> Any:
        """Names and shapes of the outputs of the bucket in use."""
        self._require("binded")
        return self._curr_module.output_shapes

    @property
    def symbol(self) -> Any:
        """The symbol of the bucket in use."""
        self._require("binded")
        return self._curr_module.symbol

    # -- parameters --------------------------------------------------------------------------------------------------
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        self._require("params_initialized")
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params  # type: ignore[no-any-return]

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        if self.params_initialized and not force_init:
            return
        self._require("binded")
        self._curr_module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = False
        self.params_initialized = True

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
        self._curr_module.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        self._require("binded", "params_initialized")
        return self._curr_module.get_states(merge_multi_context)  # type: ignore[no-any-return]

    def set_states(self, states: Any = None, value: Any = None) -> None:
        self._require("binded", "params_initialized")
        self._curr_module.set_states(states, value)

    # -- buckets -----------------------------------------------------------------------------------------------------
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
        """Bind the default bucket for these shapes; the others follow when they are first used."""
        if shared_module is not None:
            raise AssertionError("BucketingModule does not take a shared_module")
        kept = self.get_params() if self.params_initialized else None
        if force_rebind:
            self._reset_bind()
        if self._already_bound():
            return
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        key = self._default_bucket_key
        module = self._buckets.get(key) or self._make_module(key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self.binded = True
        self._buckets[key] = module
        self._curr_module, self._curr_bucket_key = module, key
        if kept is not None:
            self.set_params(*kept)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Go over to another bucket, binding it if it is new."""
        self._require("binded")
        module = self._buckets.get(bucket_key) or self._make_module(bucket_key)
        if not module.binded:
            module.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                shared_module=self._buckets[self._default_bucket_key],
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
        self._buckets[bucket_key] = module
        self._curr_module, self._curr_bucket_key = module, bucket_key

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        self._require("binded", "params_initialized")
        current = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(current, None, None)

    # -- training ----------------------------------------------------------------------------------------------------
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = _RATE, force_init: bool = False
    ) -> None:
        """Install an optimizer, the same for all buckets."""
        self._require("binded", "params_initialized")
        if self._already_optimized(force_init):
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        self._require("binded", "params_initialized")
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        self._require("binded", "params_initialized")
        self._curr_module.backward(out_grads=out_grads)

    def update(self) -> None:
        self._require("binded", "params_initialized", "optimizer_initialized")
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        self._require("binded", "params_initialized")
        return self._curr_module.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        self._require("binded", "params_initialized", "inputs_need_grad")
        return self._curr_module.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        self._require("binded", "params_initialized")
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        self._require("binded")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # -- files -------------------------------------------------------------------------------------------------------
    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Write the parameters, each bucket's symbol, and the list of buckets (`prefix.buckets`)."""
        if not self._buckets:
            raise AssertionError("there is nothing to save: no bucket was bound")
        self.save_params(params_file(prefix, epoch))
        for key in self._buckets:
            self._call_sym_gen(key)[0].save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
        nd.save(f"{prefix}.buckets", nd.array(list(self._buckets), dtype=np.int32))

    @staticmethod
    def load(
        prefix: str, epoch: int, sym_gen: SymbolMaker | None = None, default_bucket_key: Any = None, **kwargs: Any
    ) -> BucketingModule:
        """A module from a checkpoint; `kwargs` are those of the constructor."""
        keys = [int(key) for key in nd.load(f"{prefix}.buckets")[0].asnumpy()]
        symbols = {key: sym.load(f"{prefix}-{key}-symbol.json") for key in keys}
        arguments, states = load_params(prefix, epoch)
        return BucketingModule.load_dict(symbols, sym_gen, default_bucket_key, arguments, states, **kwargs)

    @staticmethod
    def load_dict(
        sym_dict: Mapping[Any, Any],
        sym_gen: SymbolMaker | None = None,
        default_bucket_key: Any = None,
        arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """A module from symbols by bucket key, and parameters."""
        if sym_gen is None or default_bucket_key is None or arg_params is None or aux_params is None:
            raise AssertionError("loading a BucketingModule needs sym_gen, default_bucket_key and the parameters")
        made = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        for key, symbol in sym_dict.items():
            _, data_names, label_names = made._call_sym_gen(key)
            made._buckets[key] = Module(symbol, data_names, label_names, **kwargs)
        current = made._curr_module = made._buckets[default_bucket_key]
        current._arg_params, current._aux_params = arg_params, aux_params
        current.params_initialized = made.params_initialized = True
        return made
