"""`mx.operator`: operators written in Python as a CustomOp (what it computes) and a CustomOpProp (what is known of it).

Example::

    class Twice(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)
        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("twice")
    class TwiceProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Twice()

    y = nd.Custom(x, op_type="twice")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context, cpu
from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.attrs import dtype_name
from autohybrid.tensor.autograd import pause
from autohybrid.tensor.backend import array_namespace
from autohybrid.tensor.custom_registry import register_maker
from autohybrid.tensor.opdef import Dtypes, Shapes
from autohybrid.tensor.shapes import is_known, unify

__all__ = ["CustomOp", "CustomOpProp", "register"]
#: What the user's code may raise; it becomes an MXNetError that names the operator, as in MXNet.
_USER_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class CustomOp:
    """What a custom operator computes. One instance serves the forward and backward of a call."""

    def forward(self, is_train: bool, req: list[str], in_data: Any, out_data: Any, aux: Any) -> None:
        """Fill `out_data` from `in_data`, with `assign`."""
        raise NotImplementedError(f"{type(self).__name__} must define forward")

    def backward(self, req: list[str], out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        """Fill `in_grad` from `out_grad`, with `assign`."""
        raise NotImplementedError(f"{type(self).__name__} must define backward")

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Write `src` into `dst` as `req` says: 'write' and 'inplace' overwrite, 'add' adds, 'null' does nothing."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """What is known of a custom operator before it runs. Keywords of the call arrive in `__init__` as text."""

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states that `forward` may write."""
        return []

    def infer_shape(self, in_shape: list[Any]) -> Any:
        """Shapes of inputs, outputs and states (which may be left out) from those of the inputs."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: list[Any]) -> Any:
        """Dtypes of inputs, outputs and states from those of the inputs."""
        return in_type, [in_type[0]] * len(self.list_outputs()), [in_type[0]] * len(self.list_auxiliary_states())

    def declare_backward_dependency(self, out_grad: Any, in_data: Any, out_data: Any) -> list[Any]:
        """Which arrays `backward` reads. All are at hand whatever is declared."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        """The operator for inputs of these shapes and dtypes."""
        return CustomOp()


def register(reg_name: str) -> Callable[[type[CustomOpProp]], type[CustomOpProp]]:
    """Make a CustomOpProp known as `op_type=reg_name`. Raises TypeError for another class."""

    def decorate(prop_class: type[CustomOpProp]) -> type[CustomOpProp]:
        if not issubclass(prop_class, CustomOpProp):
            raise TypeError(f"{prop_class.__name__} must be a subclass of mx.operator.CustomOpProp")
        make: Callable[..., CustomOpProp] = prop_class
        register_maker(reg_name, lambda keywords: Session(reg_name, make(**keywords)))
        return prop_class

    return decorate


class Session:
    """A call of a custom operator: its property object, and the CustomOp that forward and backward share."""

    def __init__(self, name: str, prop: CustomOpProp) -> None:
        self._name = name
        self._prop = prop
        self._operators: dict[Any, CustomOp] = {}
        self.arguments = tuple(prop.list_arguments())
        self.outputs = tuple(prop.list_outputs())
        self.needs_heads: bool = bool(getattr(prop, "need_top_grad_", True))
        self.states = tuple(prop.list_auxiliary_states())
        self.inputs = (*self.arguments, *self.states)
        heads = [f"{name}_grad" for name in self.outputs]
        self.backward_inputs = (*heads, *self.inputs, *self.outputs)

    # -- inference -----------------------------------------------------------------------------------------------------
    def infer_shapes(self, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        """What the property class infers; nothing before the first input is known."""
        given = list(ins[: len(self.arguments)])
        if self.arguments and not is_known(given[0]):
            return ins, outs
        found, results, states = self._parts("infer_shape", [list(s) if s is not None else [] for s in given])
        inferred = [unify(tuple(map(int, s)) or None, old) for s, old in zip([*found, *states], ins)]
        return inferred, [unify(tuple(map(int, s)), old) for s, old in zip(results, outs)]

    def infer_dtypes(self, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        """What the property class infers; nothing before the first input is known."""
        given = list(ins[: len(self.arguments)])
        if self.arguments and given[0] is None:
            return ins, outs
        found, results, states = self._parts("infer_type", [np.dtype(t or given[0]).type for t in given])
        return [dtype_name(t) for t in (*found, *states)], [dtype_name(t) for t in results]

    def _parts(self, method: str, given: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        answer = getattr(self._prop, method)(given)
        if len(answer) not in (2, 3):
            raise MXNetError(f"{self._where(method)} must return lists for inputs, outputs and states")
        parts = [list(part) for part in answer] + [[]] * (3 - len(answer))
        if len(parts[2]) != len(self.states):
            filler: Any = () if method == "infer_shape" else parts[0][0]
            parts[2] = parts[2] or [filler] * len(self.states)
        for part, names, what in zip(
            parts, (self.arguments, self.outputs, self.states), ("inputs", "outputs", "states")
        ):
            if len(part) != len(names):
                raise MXNetError(f"{self._where(method)} returned {len(part)} entries for {len(names)} {what}")
        return parts[0], parts[1], parts[2]

    def _where(self, method: str) -> str:
        return f"{type(self._prop).__name__}.{method} of the custom operator {self._name!r}"

    # -- running -------------------------------------------------------------------------------------------------------
    def forward(self, arrays: Sequence[Any], train: bool) -> tuple[Any, ...]:
        """The outputs for raw input and state arrays; states are written in place."""
        inputs = [wrap(a, context_of(a)) for a in arrays]
        count = len(self.arguments)
        outputs = self._fresh_outputs(inputs[:count])
        with pause(train_mode=train):
            operator = self._operator(inputs[:count])
            try:
                operator.forward(train, ["write"] * len(outputs), inputs[:count], outputs, inputs[count:])
            except _USER_ERRORS as error:
                raise self._failure("forward", error) from error
        return tuple(array._data for array in outputs)

    def backward(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients of the arguments, for raw arrays in the order of `backward_inputs`."""
        handles = [wrap(a, context_of(a)) for a in arrays]
        heads, rest = handles[: len(self.outputs)], handles[len(self.outputs) :]
        count = len(self.arguments)
        arguments, states, outputs = rest[:count], rest[count : len(self.inputs)], rest[len(self.inputs) :]
        gradients = [wrap(array_namespace(a._data).zeros_like(a._data), a._ctx) for a in arguments]
        with pause(train_mode=True):
            operator = self._operator(arguments)
            try:
                operator.backward(["write"] * count, heads, arguments, outputs, gradients, states)
            except _USER_ERRORS as error:
                raise self._failure("backward", error) from error
        return tuple(array._data for array in gradients)

    def _failure(self, method: str, error: Exception) -> MXNetError:
        return MXNetError(f"the {method} of the custom operator {self._name!r} failed: {type(error).__name__}: {error}")

    def argument_part(self, facts: Sequence[Any]) -> list[Any]:
        """Of facts in the order of `backward_inputs`, those of the arguments."""
        first = len(self.outputs)
        return list(facts[first : first + len(self.arguments)])

    def _fresh_outputs(self, arguments: Sequence[NDArray]) -> list[NDArray]:
        shapes = self._parts("infer_shape", [list(a.shape) for a in arguments])[1]
        dtypes = self._parts("infer_type", [a.dtype for a in arguments])[1]
        xp = array_namespace(arguments[0]._data) if arguments else np
        ctx = arguments[0]._ctx if arguments else cpu()
        return [wrap(xp.zeros(tuple(s), dtype=np.dtype(t)), ctx) for s, t in zip(shapes, dtypes)]

    def _operator(self, arguments: Sequence[NDArray]) -> CustomOp:
        key = tuple((a.shape, a.dtype) for a in arguments)
        if key not in self._operators:
            ctx = arguments[0]._ctx if arguments else cpu()
            shapes, dtypes = [list(a.shape) for a in arguments], [a.dtype for a in arguments]
            self._operators[key] = self._prop.create_operator(ctx, shapes, dtypes)
        return self._operators[key]


def context_of(data: Any) -> Context:
    """The device that a raw array lives on."""
    number = getattr(getattr(data, "device", None), "id", None)
    return cpu() if number is None else Context("gpu", number)
