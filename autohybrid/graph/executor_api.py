"""Executor: a bound symbol (`symbol.bind`, `symbol.simple_bind`), with MXNet 1.9.1's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import MXNetError
from autohybrid.graph.interpreter import Monitor, run
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor import creation
from autohybrid.tensor.array import NDArray, array_on
from autohybrid.tensor.autograd import record, train_mode
from autohybrid.tensor.tape import Variable, run_backward, state


class Executor:
    """A graph with arrays for its variables. `forward` computes `outputs`, `backward` fills the gradient arrays."""

    def __init__(
        self, symbol: Symbol, ctx: Context, args: Any, args_grad: Any, grad_req: Any, aux_states: Any = None
    ) -> None:
        self._symbol = symbol
        self._ctx = ctx
        names = symbol.list_arguments()
        self.arg_arrays = _arrange("args", names, args, False)
        self.grad_arrays = _arrange("args_grad", names, args_grad, True)
        self.aux_arrays = _arrange("aux_states", symbol.list_auxiliary_states(), aux_states, False)
        self.outputs: list[NDArray] = []
        self._requests = _requests(grad_req, names)
        self._monitor: Monitor | None = None
        self._recorded: list[NDArray] = []
        symbol.infer_shape(**{n: a.shape for n, a in zip(names, self.arg_arrays)})

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Argument arrays by name."""
        return dict(zip(self._symbol.list_arguments(), self.arg_arrays))

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """Gradient arrays by argument name; None where there is none."""
        return dict(zip(self._symbol.list_arguments(), self.grad_arrays))

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """Auxiliary states by name."""
        return dict(zip(self._symbol.list_auxiliary_states(), self.aux_arrays))

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Outputs of the last forward by name."""
        return dict(zip(self._symbol.list_outputs(), self.outputs))

    def set_monitor_callback(self, callback: Monitor, monitor_all: bool = False) -> None:
        """Call `callback(name, array)` for every output of every node during forward."""
        self._monitor = callback

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Compute the outputs; keyword arguments replace the values of arguments first."""
        arrays = self.arg_dict
        for name, value in kwargs.items():
            if name not in arrays:
                raise TypeError(f"Unknown argument {name}")
            if tuple(value.shape) != arrays[name].shape:
                raise ValueError(f"Shape not match! Argument {name}, need: {arrays[name].shape}, received: {value.shape}")
            arrays[name]._data[...] = value._data if isinstance(value, NDArray) else np.asarray(value)
        feed = {name: self._leaf(name, array) for name, array in arrays.items()}
        feed.update({name: array.detach() for name, array in self.aux_dict.items()})
        if is_train:
            with record(train_mode=True):
                self._recorded = run(self._symbol._heads, feed, self._monitor)
        else:
            saved, state.recording, = state.recording, False
            was_training, state.training = state.training, False
            try:
                self._recorded = run(self._symbol._heads, feed, self._monitor)
            finally:
                state.recording, state.training = saved, was_training
        self.outputs = [o.detach() for o in self._recorded]
        return self.outputs

    def _leaf(self, name: str, array: NDArray) -> NDArray:
        leaf = array.detach()
        gradient = self.grad_dict[name]
        if gradient is not None and self._requests[name] != "null":
            leaf._entry = (Variable(gradient, self._requests[name]), 0)
        return leaf

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Gradients of the arguments for these head gradients (ones where an output ignores its own)."""
        if not self._recorded:
            raise MXNetError("backward needs forward(is_train=True) first")
        heads = [out_grads] if isinstance(out_grads, NDArray) else out_grads
        if isinstance(heads, Mapping):
            heads = [heads[name] for name in self._symbol.list_outputs()]
        live = [i for i, o in enumerate(self._recorded) if o._entry is not None]
        if not live:
            return
        given = None if heads is None else [heads[i] for i in live]
        with train_mode():
            run_backward([self._recorded[i] for i in live], given, None, True, False, is_train)

    def copy_params_from(
        self, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray] | None = None, allow_extra_params: bool = False
    ) -> None:
        """Copy values into argument and auxiliary arrays. Raises ValueError for a name that is not there."""
        for source, target in ((arg_params, self.arg_dict), (aux_params or {}, self.aux_dict)):
            for name, value in source.items():
                if name in target:
                    value.astype(target[name].dtype).copyto(target[name])  # type: ignore[attr-defined]
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the arguments')

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor for other shapes of the arguments; arrays whose shape stays are shared."""
        known = {**{n: a.shape for n, a in self.arg_dict.items() if n in kwargs}, **kwargs}
        arg_shapes, _, aux_shapes = self._symbol.infer_shape(**known)
        if arg_shapes is None or aux_shapes is None:
            raise ValueError("Insufficient argument shapes provided.")
        args = {n: _resized(a, s, n, kwargs, partial_shaping, allow_up_sizing) for (n, a), s in zip(self.arg_dict.items(), arg_shapes)}
        grads = {
            n: g if g is None or g.shape == s else creation.zeros(s, g._ctx, g.dtype)
            for (n, g), s in zip(self.grad_dict.items(), arg_shapes)
        }
        states = {n: a if a.shape == s else creation.zeros(s, a._ctx, a.dtype) for (n, a), s in zip(self.aux_dict.items(), aux_shapes)}
        return Executor(self._symbol, self._ctx, args, {n: g for n, g in grads.items() if g is not None}, self._requests, states)


def simple_bind(symbol: Symbol, ctx: Context, grad_req: Any, type_dict: Any, shapes: Mapping[str, Any]) -> Executor:
    """An Executor over zero arrays of inferred shapes. Raises MXNetError listing the arguments whose shape is missing."""
    arg_shapes, _, aux_shapes = symbol.infer_shape(**shapes)
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    if arg_shapes is None or aux_shapes is None:
        partial = symbol.infer_shape_partial(**shapes)[0] or []
        missing = [n for n, s in zip(names, partial) if not s or 0 in s]
        raise MXNetError(f"simple_bind: the shapes given do not determine those of {', '.join(missing)}")
    given = {n: np.dtype(t).type for n, t in (type_dict or {}).items()}
    arg_types, _, aux_types = symbol.infer_type_partial(**given)
    args = {n: creation.zeros(s, ctx, t or "float32") for n, s, t in zip(names, arg_shapes, arg_types)}
    requests = _requests(grad_req, names)
    grads = {n: creation.zeros(a.shape, ctx, a.dtype) for n, a in args.items() if requests[n] != "null"}
    aux = {n: creation.zeros(s, ctx, t or "float32") for n, s, t in zip(states, aux_shapes, aux_types)}
    return Executor(symbol, ctx, args, grads, grad_req, aux)


def _arrange(what: str, names: Sequence[str], given: Any, optional: bool) -> list[Any]:
    if given is None:
        given = {}
    if isinstance(given, Mapping):
        missing = [n for n in names if n not in given]
        if missing and not optional:
            raise ValueError(f"key `{missing[0]}` is missing in `{what}`")
        return [given.get(n) for n in names]
    listed = list(given)
    if len(listed) != len(names):
        raise ValueError(f"Length of {what} does not match the number of arguments: {len(listed)} for {', '.join(names)}")
    return [a if a is None or isinstance(a, NDArray) else array_on(a, None, None) for a in listed]


def _requests(grad_req: Any, names: Sequence[str]) -> dict[str, str]:
    if isinstance(grad_req, str):
        return dict.fromkeys(names, grad_req)
    if isinstance(grad_req, Mapping):
        return {n: grad_req.get(n, "null") for n in names}
    return dict(zip(names, grad_req))


def _resized(
    array: NDArray, shape: tuple[int, ...], name: str, given: Mapping[str, Any], partial: bool, grow: bool
) -> NDArray:
    if array.shape == shape:
        return array
    if not partial and name not in given:
        raise AssertionError(
            f"Shape of unspecified array arg:{name} changed. This can cause the new executor to not share parameters "
            "with the old one. Please check for error in network. If this is intended, set partial_shaping=True to "
            "suppress this warning."
        )
    if not grow and int(np.prod(shape)) > array.size:
        raise AssertionError(
            f"New shape of arg:{name} larger than original. First making a big executor and then down sizing it is "
            "more efficient than the reverse. If you really want to up size, set allow_up_sizing=True"
        )
    return creation.zeros(shape, array._ctx, array.dtype)
