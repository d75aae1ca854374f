"""SequentialModule: modules one behind the other, each fed with the outputs of the one before."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from typing import Any

from autohybrid.module.base_module import _RATE, BaseModule
from autohybrid.ndarray import NDArray
from autohybrid.optim.initializer import Uniform


class SequentialModule(BaseModule):
    """A chain of modules that trains as one.

    `add(module, take_labels=True)` gives a module the labels (the one with the loss);
    `add(module, auto_wiring=True)` feeds its data by position instead of by name.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[Any] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Any = None

    def add(self, module: BaseModule, **kwargs: Any) -> SequentialModule:
        """Put a module at the end; gives this chain. It has to be bound and initialized anew afterwards.

        Raises AssertionError for another keyword than `take_labels` and `auto_wiring`.
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise AssertionError(f"add() does not know {key!r}; a module may be given {' and '.join(known)}")
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self) -> list[str]:
        """The names of the first module's data."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """The names of the last module's outputs."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """The shapes of the first module's data."""
        self._require("binded")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        """The shapes of the labels; None when no module takes them."""
        self._require("binded")
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """The shapes of the last module's outputs."""
        self._require("binded")
        return self._modules[-1].output_shapes

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
        """Bind the modules, each for the output shapes of the one before. Raises AssertionError for an empty chain."""
        if not force_rebind and self._already_bound():
            return
        if inputs_need_grad and not for_training:
            raise AssertionError("inputs_need_grad needs for_training=True")
        if shared_module is not None:
            raise AssertionError("a SequentialModule cannot share the memory of another module")
        if not self._modules:
            raise AssertionError("the SequentialModule is empty; add() modules first")
        shapes = data_shapes
        for position, (module, meta) in enumerate(zip(self._modules, self._metas)):
            if meta.get(self.META_AUTO_WIRING, False):
                shapes = _renamed(shapes, module.data_names)
            module.bind(
                data_shapes=shapes,
                label_shapes=label_shapes if meta.get(self.META_TAKE_LABELS) else None,
                for_training=for_training,
                inputs_need_grad=inputs_need_grad or (for_training and position > 0),
                force_rebind=force_rebind,
                grad_req=grad_req,
            )
            shapes = module.output_shapes
        takes_labels = any(meta.get(self.META_TAKE_LABELS) for meta in self._metas)
        self._label_shapes = label_shapes if takes_labels else None
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.binded = True

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - initializers have no state
        arg_params: Any = None,
        aux_params: Any = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters of all modules. Raises AssertionError when two modules have one of the same name."""
        if self.params_initialized and not force_init:
            return
        self._require("binded")
        for module in self._modules:
            module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        owners: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for position, module in enumerate(self._modules):
            for known, names in zip(owners, module.get_params()):
                for name in names:
                    if name in known:
                        raise AssertionError(f"modules {known[name]} and {position} both have a parameter {name!r}")
                    known[name] = position
        self.params_initialized = True

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Arguments and auxiliary states of all modules."""
        self._require("binded", "params_initialized")
        arguments: dict[str, NDArray] = {}
        states: dict[str, NDArray] = {}
        for module in self._modules:
            own_arguments, own_states = module.get_params()
            arguments.update(own_arguments)
            states.update(own_states)
        return arguments, states

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd", optimizer_params: Any = _RATE, force_init: bool = False
    ) -> None:
        """Install an optimizer in each module."""
        self._require("binded", "params_initialized")
        if self._already_optimized(force_init):
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Run the modules on a batch, one after the other."""
        self._require("binded", "params_initialized")
        batch = copy.copy(data_batch)
        for position, module in enumerate(self._modules):
            if position:
                before = self._modules[position - 1]
                batch.data = before.get_outputs()
                if batch.provide_data is not None:
                    batch.provide_data = _described(before.output_shapes, batch.data)
            if batch.provide_data is not None and self._metas[position].get(self.META_AUTO_WIRING):
                batch.provide_data = _renamed(batch.provide_data, module.data_names)
            module.forward(batch, is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Compute gradients from the last module to the first."""
        self._require("binded", "params_initialized")
        for module in reversed(self._modules):
            module.backward(out_grads=out_grads)
            if module is not self._modules[0]:
                out_grads = module.get_input_grads()

    def update(self) -> None:
        """Update the parameters of all modules."""
        self._require("binded", "params_initialized", "optimizer_initialized")
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        """The outputs of the last module."""
        self._require("binded", "params_initialized")
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """The gradients of the first module's data."""
        self._require("binded", "params_initialized", "inputs_need_grad")
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Update a metric with the outputs of the modules that take labels."""
        self._require("binded", "params_initialized")
        for module, meta in zip(self._modules, self._metas):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Let a Monitor watch all modules."""
        self._require("binded")
        for module in self._modules:
            module.install_monitor(mon)


def _renamed(shapes: Sequence[Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    if len(names) != len(shapes):
        raise AssertionError(f"auto_wiring: the module takes {len(names)} arrays, but {len(shapes)} are given to it")
    return [(name, described[1]) for name, described in zip(names, shapes)]


def _described(shapes: Sequence[Any], arrays: Sequence[NDArray]) -> list[tuple[str, Any]]:
    if len(shapes) != len(arrays):
        raise AssertionError(f"a module of the chain described {len(shapes)} outputs, but gave {len(arrays)}")
    return [(described[0], array.shape) for described, array in zip(shapes, arrays)]
