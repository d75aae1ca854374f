"""Executor: a bound symbol (`symbol.bind`, `symbol.simple_bind`), with MXNet 1.9.1's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import MXNetError
from autohybrid.graph.debug_text import graph_text, memory_text
from autohybrid.graph.interpreter import Monitor, run
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor import creation
from autohybrid.tensor.array import NDArray, array_on
from autohybrid.tensor.autograd import pause, record, train_mode
from autohybrid.tensor.opdef import zero_gradient
from autohybrid.tensor.tape import TapeNode, Variable, run_backward

_REQUESTS = ("null", "write", "add")


class MissingHead(NDArray):
    """Stands for a head gradient that was not given: losses ignore theirs, anything else raises on touching it."""

    __slots__ = ("_name",)

    def __init__(self, name: str, ctx: Context) -> None:
        self._name = name
        self._ctx = ctx
        self._entry = None
        self._grad = None

    @property
    def _data(self) -> Any:
        raise MXNetError(
            f"backward needs the head gradient of output `{self._name}`, which no loss operator computes: "
            "pass `out_grads`"
        )


def _ignores_head(output: NDArray) -> bool:
    """Whether no gradient flows back from this output, whatever head gradient it is given."""
    entry = output._entry
    return entry is not None and isinstance(entry[0], TapeNode) and entry[0].grad is zero_gradient


class Executor:
    """A graph with arrays for its variables. `forward` computes `outputs`, `backward` fills the gradient arrays.

    The arrays of `outputs` are made once; every `forward` writes into them, as in MXNet.
    """

    def __init__(
        self, symbol: Symbol, ctx: Context, args: Any, args_grad: Any, grad_req: Any, aux_states: Any = None
    ) -> None:
        self._symbol = symbol
        self._ctx = ctx
        self._names = symbol.list_arguments()
        self._state_names = symbol.list_auxiliary_states()
        self._requests = _requests(grad_req, self._names)
        self.arg_arrays: list[NDArray] = _arrange("args", self._names, args, False)
        self.grad_arrays: list[NDArray | None] | None = (
            None if args_grad is None else _arrange("args_grad", self._names, args_grad, True)
        )
        self.aux_arrays: list[NDArray] = _arrange("aux_states", self._state_names, aux_states, False)
        self._monitor: Monitor | None = None
        self._monitor_all = False
        self._recorded: list[NDArray] = []
        self.outputs: list[NDArray] = self._fresh_outputs()

    def _fresh_outputs(self) -> list[NDArray]:
        """Zeros for the outputs, as far as their shapes and dtypes follow from the arguments."""
        shapes = self._symbol.infer_shape_partial(**{n: a.shape for n, a in self.arg_dict.items()})[1] or []
        types = self._symbol.infer_type_partial(**{n: a.dtype for n, a in self.arg_dict.items()})[1]
        known = all(s and 0 not in s for s in shapes) and None not in types
        return [creation.zeros(s, self._ctx, t) for s, t in zip(shapes, types)] if known else []

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """Argument arrays by name."""
        return dict(zip(self._names, self.arg_arrays))

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """Gradient arrays by argument name; None where there is none."""
        return dict(zip(self._names, self.grad_arrays or [None] * len(self._names)))

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """Auxiliary states by name."""
        return dict(zip(self._state_names, self.aux_arrays))

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """Outputs of the last forward by name."""
        return dict(zip(self._symbol.list_outputs(), self.outputs))

    def set_monitor_callback(self, callback: Monitor, monitor_all: bool = False) -> None:
        """Call `callback(name, array)` for every output of every node during forward; with `monitor_all` also for every
        input: `data`, then `fc_data`."""
        self._monitor = callback
        self._monitor_all = monitor_all

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Compute the outputs; keyword arguments replace the values of arguments first.

        Raises TypeError for an unknown argument, ValueError for one that is no array or has another shape.
        """
        for name, value in kwargs.items():
            self._replace(name, value)
        leaves = {name: self._leaf(name, array) for name, array in self.arg_dict.items()}
        feed = {**leaves, **{name: array.detach() for name, array in self.aux_dict.items()}}
        needed = any(leaf._entry is not None for leaf in leaves.values())
        with record(train_mode=is_train) if needed else pause(train_mode=is_train):
            self._recorded = run(self._symbol._heads, feed, self._monitor, monitor_inputs=self._monitor_all)
        self._publish()
        return self.outputs

    def _replace(self, name: str, value: Any) -> None:
        target = self.arg_dict.get(name)
        if target is None:
            raise TypeError(f"Unknown argument {name}; the symbol has {', '.join(self._names)}")
        if not isinstance(value, (NDArray, np.ndarray)):
            raise ValueError(f"only accept keyword argument of NDArrays and numpy.ndarray, `{name}` is {type(value)}")
        if tuple(value.shape) != target.shape:
            raise ValueError(f"Shape not match! Argument {name}, need: {target.shape}, received: {value.shape}")
        target[:] = value

    def _leaf(self, name: str, array: NDArray) -> NDArray:
        leaf = array.detach()
        gradient = self.grad_dict[name]
        if gradient is not None and self._requests[name] != "null":
            leaf._entry = (Variable(gradient, self._requests[name]), 0)
        return leaf

    def _publish(self) -> None:
        """Write what was computed into the arrays of `outputs`."""
        fresh = [array.detach() for array in self._recorded]
        if [(o.shape, o.dtype, o.stype) for o in self.outputs] != [(f.shape, f.dtype, f.stype) for f in fresh]:
            self.outputs = [array.copy() for array in fresh]
            return
        for output, array in zip(self.outputs, fresh):
            output._store(array._data)

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Gradients of the arguments for these head gradients: one array, a list, or a dict by output name.

        Outputs of losses need none. Without a `forward` before it, it is at the arguments as they are. Raises
        MXNetError when a head gradient is missing.
        """
        if not self._recorded:
            self.forward(is_train)
        names = self._symbol.list_outputs()
        if out_grads is None:
            heads: list[Any] = [None] * len(names)
        elif isinstance(out_grads, NDArray):
            heads = [out_grads]
        else:
            heads = [out_grads[n] for n in names] if isinstance(out_grads, Mapping) else list(out_grads)
        live = [i for i, output in enumerate(self._recorded) if output._entry is not None]
        given = [self._head(heads[i] if i < len(heads) else None, names[i], self._recorded[i]) for i in live]
        if live:
            with train_mode():
                run_backward([self._recorded[i] for i in live], given, None, True, False, is_train)

    def _head(self, given: NDArray | None, name: str, output: NDArray) -> NDArray:
        if given is None:
            return MissingHead(name, self._ctx)
        if given.shape != output.shape and not _ignores_head(output):
            raise MXNetError(
                f"the head gradient of output `{name}` has shape {given.shape}, the output has {output.shape}"
            )
        converted: NDArray = given.astype(output.dtype, copy=False)
        return converted

    def debug_str(self) -> str:
        """The graph as text, and the memory that its intermediate results take at one time."""
        gradients = self.grad_dict
        wanted = {name for name in self._names if gradients[name] is not None and self._requests[name] != "null"}
        arrays = {**self.arg_dict, **self.aux_dict}
        return graph_text(self._symbol._heads) + memory_text(self._symbol._heads, arrays, wanted)

    def get_optimized_symbol(self) -> Symbol:
        """The symbol that runs: the one that was bound, as results never depend on how it is run."""
        return self._symbol

    def copy_params_from(
        self,
        arg_params: Mapping[str, NDArray],
        aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copy values into argument and auxiliary arrays. Raises ValueError for a name that is not there."""
        for source, target in ((arg_params, self.arg_dict), (aux_params or {}, self.aux_dict)):
            for name, value in source.items():
                if name in target:
                    value.copyto(target[name])
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the arguments')

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor for other shapes of the arguments; it shares the memory of arrays that do not grow.

        Raises MXNetError where an array not named would change, or grow, and that was not allowed.
        """
        arg_shapes, _, aux_shapes = self._symbol.infer_shape(**kwargs)
        if arg_shapes is None or aux_shapes is None:
            raise ValueError("Insufficient argument shapes provided.")
        args, grads = {}, {}
        for (name, array), gradient, shape in zip(self.arg_dict.items(), self.grad_dict.values(), arg_shapes):
            args[name] = _resized(array, shape, name, partial_shaping or name in kwargs, allow_up_sizing)
            if gradient is not None:
                grads[name] = _resized(gradient, shape, name, True, True)
        states = {
            name: _resized(array, shape, name, partial_shaping, allow_up_sizing)
            for (name, array), shape in zip(self.aux_dict.items(), aux_shapes)
        }
        given = None if self.grad_arrays is None else grads
        other = Executor(self._symbol, self._ctx, args, given, self._requests, states)
        if len(other.outputs) == len(self.outputs):
            pairs = zip(self.outputs, other.outputs, self._symbol.list_outputs())
            other.outputs = [_resized(mine, theirs.shape, name, True, True) for mine, theirs, name in pairs]
        return other


def simple_bind(symbol: Symbol, ctx: Context, grad_req: Any, type_dict: Any, shapes: Mapping[str, Any]) -> Executor:
    """An Executor over zero arrays of inferred shapes. Raises MXNetError listing the arguments without a shape."""
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    partial = symbol.infer_shape_partial(**shapes)
    missing = [n for n, s in zip(names, partial[0] or []) if not s or 0 in s]
    if missing:
        raise MXNetError(f"simple_bind error: the shapes given do not determine those of {', '.join(missing)}")
    arg_shapes, _, aux_shapes = symbol.infer_shape(**shapes)
    assert arg_shapes is not None and aux_shapes is not None
    given = {n: np.dtype(t).type for n, t in (type_dict or {}).items() if n in names}
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
        raise ValueError(
            f"Length of {what} does not match the number of arguments: {len(listed)} for {', '.join(names) or 'none'}"
        )
    return [a if a is None or isinstance(a, NDArray) else array_on(a, None, None) for a in listed]


def _requests(grad_req: Any, names: Sequence[str]) -> dict[str, str]:
    if isinstance(grad_req, str):
        found = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, Mapping):
        found = {n: grad_req.get(n, "null") for n in names}
    else:
        found = dict(zip(names, grad_req))
    for request in found.values():
        if request not in _REQUESTS:
            raise ValueError(f"grad_req must be one of {', '.join(map(repr, _REQUESTS))}, got {request!r}")
    return found


def _resized(array: NDArray, shape: tuple[int, ...], name: str, may_change: bool, may_grow: bool) -> NDArray:
    if array.shape == shape:
        return array
    if not may_change:
        raise MXNetError(
            f"the shape of `{name}`, which was not given, would change from {array.shape} to {shape}, so that the new "
            "executor would not share it; if that is intended, pass `partial_shaping=True`"
        )
    size = int(np.prod(shape))
    if size <= array.size:
        front: NDArray = array.reshape((-1,))[:size].reshape(shape)
        return front  # the front of the memory is shared, as in MXNet
    if not may_grow:
        raise MXNetError(
            f"`{name}` would grow from {array.shape} to {shape}; bind the larger shape first and reshape down, or pass "
            "`allow_up_sizing=True`"
        )
    return creation.zeros(shape, array._ctx, array.dtype)
