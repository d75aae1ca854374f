"""Trainer: applies an optimizer to a set of Parameters, on one device or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autohybrid.context import Context
from autohybrid.files import write_atomically
from autohybrid.gluon.parameter import Parameter
from autohybrid.gluon.parameter_dict import ParameterDict
from autohybrid.ndarray import NDArray
from autohybrid.optim import optimizer as optimizers
from autohybrid.training.kvstore import KVStoreBase
from autohybrid.training.kvstore_choice import choose_kvstore, choose_sparse_kvstore


class Trainer:
    """Updates `params` with `optimizer` after each backward pass.

    params             a ParameterDict, a dict (taken in the order of its keys) or a list of Parameters
    optimizer          a name with `optimizer_params`, or an Optimizer
    kvstore            what adds up gradients over devices: a name, a KVStore or None; a single device needs none
    update_on_kvstore  whether the store updates the parameters; None lets the store's kind decide

    Example::

        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        with autograd.record():
            loss = loss_function(net(x), y)
        loss.backward()
        trainer.step(batch_size=len(x))
    """

    def __init__(
        self,
        params: Any,
        optimizer: str | optimizers.Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: str | KVStoreBase | None = "device",
        compression_params: dict[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        self._params = _listed(params)
        self._param2idx = {param.name: index for index, param in enumerate(self._params)}
        for param in self._params:
            param._set_trainer(self)
        self._contains_sparse_weight = any(p._stype != "default" for p in self._params)
        self._contains_sparse_grad = any(p._grad_stype != "default" for p in self._params)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._init_optimizer(optimizer, optimizer_params or {})
        self._scale = self._amp_original_scale = self._optimizer.rescale_grad
        self._amp_loss_scaler: Any = None
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._reset_kvstore()

    # -- setting up --------------------------------------------------------------------------------------------------
    def _check_contexts(self) -> list[Context]:
        contexts: list[Context] | None = None
        for param in self._params:
            found = param.list_ctx()
            if contexts is not None and contexts != found:
                raise AssertionError(
                    f"all parameters must be on the same devices, but `{param.name}` is on {found}, not {contexts}"
                )
            contexts = found
        return contexts or []

    def _init_optimizer(self, optimizer: str | optimizers.Optimizer, settings: Mapping[str, Any]) -> None:
        by_index = dict(enumerate(self._params))
        if isinstance(optimizer, optimizers.Optimizer):
            if settings:
                raise AssertionError("optimizer_params are for an optimizer given by name; this one is an instance")
            self._optimizer = optimizer
            self._optimizer.param_dict = by_index
        else:
            self._optimizer = optimizers.create(optimizer, param_dict=by_index, **settings)
        self._updaters = [optimizers.get_updater(self._optimizer) for _ in self._contexts]

    def _reset_kvstore(self) -> None:
        """Forget the store; the next step makes it anew from the parameters' values (after loading new ones)."""
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self) -> None:
        wanted = self._kvstore_params["update_on_kvstore"]
        store, on_store = self._choose_store(wanted)
        if store is not None and wanted is not None and not self._contains_sparse_weight:
            if wanted and not store.is_capable(KVStoreBase.OPTIMIZER):
                raise ValueError(f"update_on_kvstore=True is not possible: the store {store.type} has no optimizer")
            on_store = bool(wanted)
        if store is not None:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                store.set_optimizer(self._optimizer)
        self._kvstore = store
        self._update_on_kvstore = on_store if store is not None else None
        self._kv_initialized = True

    def _choose_store(self, wanted: Any) -> tuple[Any, bool]:
        kvstore = self._kvstore_params["kvstore"]
        if self._contains_sparse_weight:
            if wanted is False:
                raise ValueError("update_on_kvstore=False is not possible with row_sparse parameters")
            return choose_sparse_kvstore(kvstore), True
        shapes = [param.data(self._contexts[0]).shape for param in self._params]
        store, on_store = choose_kvstore(kvstore, len(self._contexts), shapes)
        return store, on_store and not self._contains_sparse_grad

    def _init_params(self) -> None:
        """Put parameters that have values by now into the store; those still deferred wait for a later step."""
        waiting = []
        for param in self._params_to_init if self._kvstore else ():
            if param._deferred_init:
                waiting.append(param)
                continue
            arrays = param._check_and_get(param._data, list)
            index = self._param2idx[param.name]
            if param._stype == "default":
                self._kvstore.broadcast(index, arrays[0], arrays)
            else:
                self._kvstore.init(index, arrays[0])
        self._params_to_init = waiting

    def _prepare(self) -> None:
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    # -- the learning rate -------------------------------------------------------------------------------------------
    @property
    def learning_rate(self) -> float:
        """The rate in force."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> optimizers.Optimizer:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Change the rate. Raises UserWarning when a schedule decides it."""
        self._optimizer.set_learning_rate(lr)

    # -- a step ------------------------------------------------------------------------------------------------------
    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """One update with gradients divided by `batch_size`: `allreduce_grads()` and `update()`.

        Raises UserWarning when a gradient was not written since the last step, unless `ignore_stale_grad`, which
        leaves such parameters as they are.
        """
        self._optimizer.rescale_grad = self._scale / batch_size
        self._prepare()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Add up the gradients over the devices, to be looked at or clipped before `update()`.

        Raises AssertionError where the store updates the parameters (`update_on_kvstore=False` avoids that).
        """
        self._prepare()
        self._refuse_on_store("allreduce_grads")
        self._allreduce_grads()

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Update with the gradients as they are, divided by `batch_size`; for use after `allreduce_grads()`."""
        self._prepare()
        self._refuse_on_store("update")
        self._optimizer.rescale_grad = self._scale / batch_size
        self._update(ignore_stale_grad)

    def _refuse_on_store(self, method: str) -> None:
        if self._kvstore and self._update_on_kvstore:
            raise AssertionError(
                f"{method}() has no meaning when the store updates the parameters; "
                "create the Trainer with update_on_kvstore=False"
            )

    def _allreduce_grads(self) -> None:
        if not self._kvstore:
            return
        for index, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            grads = param.list_grad()
            if grads[0].stype == "default":
                target = param.list_data() if self._update_on_kvstore else None
                self._kvstore.pushpull(index, grads, out=target, priority=-index)
                continue
            self._kvstore.push(index, grads, priority=-index)
            if param._stype == "default":
                target = param.list_data() if self._update_on_kvstore else grads
                self._kvstore.pull(index, target, priority=-index, ignore_sparse=False)

    def _update(self, ignore_stale_grad: bool) -> None:
        if self._amp_loss_scaler is not None and self._amp_loss_scaler.has_overflow(self._params):
            return
        on_store = bool(self._kvstore and self._update_on_kvstore)
        updates: list[list[tuple[int, NDArray, NDArray]]] = [[] for _ in self._updaters]
        for index, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            arrays = param._check_and_get(param._data, list)
            if not ignore_stale_grad:
                _check_fresh(param, arrays)
            if on_store:
                continue
            for pending, array, grad in zip(updates, arrays, param.list_grad()):
                if not ignore_stale_grad or array._fresh_grad:
                    pending.append((index, grad, array))
                    array._fresh_grad = False
        for updater, pending in zip(self._updaters, updates):
            if pending:
                indices, grads, weights = zip(*pending)
                updater(list(indices), list(grads), list(weights))

    def _row_sparse_pull(self, parameter: Parameter, out: Any, row_id: NDArray, full_idx: bool = False) -> None:
        """Fetch rows of a row_sparse parameter from the store (what `Parameter.row_sparse_data` calls)."""
        self._prepare()
        index = self._param2idx[parameter.name]
        if full_idx:
            self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    # -- states on disk ----------------------------------------------------------------------------------------------
    def save_states(self, fname: str) -> None:
        """Write the optimizer and its states (momenta...) to a file. A crash leaves the old file or the new one."""
        self._prepare()
        if not self._update_on_kvstore:
            write_atomically(fname, self._updaters[0].get_states(dump_optimizer=True))
            return
        if self._params_to_init:
            raise AssertionError("some parameters have no values yet, so there are no states to save")
        self._kvstore.save_optimizer_states(fname, dump_optimizer=True)

    def load_states(self, fname: str) -> None:
        """Read the optimizer and its states from a file. Raises MXNetError when it is damaged or something else."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            states = Path(fname).read_bytes()
            for updater in self._updaters:
                updater.set_states(states)
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _listed(params: Any) -> list[Parameter]:
    if isinstance(params, (dict, ParameterDict)):
        params = [params[key] for key in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        raise ValueError(f"the first argument must be a list or dict of Parameters, not {type(params).__name__}")
    for param in params:
        if not isinstance(param, Parameter):
            raise ValueError(f"the first argument must hold Parameters, but one entry is a {type(param).__name__}")
    return list(params)


def _check_fresh(param: Parameter, arrays: Iterable[NDArray]) -> None:
    for array in arrays:
        if not array._fresh_grad:
            raise UserWarning(
                f"the gradient of `{param.name}` on {array.context} was not written by backward() since the last step: "
                "it takes no part in this loss, perhaps by a mistake in the model; if it is meant, "
                "call step(..., ignore_stale_grad=True), which leaves such parameters as they are"
            )
