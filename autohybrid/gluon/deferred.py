"""Deferred initialisation: a parameter of unknown shape stands in a call until an operator says what it must be.

The first imperative call of a block passes a `DeferredTensor` for each such parameter. The operator it reaches infers
the missing extents from its other inputs, the parameter is initialised, and the call goes on with its array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autohybrid.context import Context
from autohybrid.errors import MXNetError
from autohybrid.tensor.arithmetic import BINARY, Binary, apply_binary
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.frontend import BoundCall
from autohybrid.tensor.imperative import call_operator
from autohybrid.tensor.numpy_arithmetic import Function
from autohybrid.tensor.numpy_arithmetic import apply as apply_numpy
from autohybrid.tensor.numpy_dialect import Dialect
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.shapes import same_shape, unify
from autohybrid.tensor.tape import state

if TYPE_CHECKING:
    from autohybrid.gluon.parameter import Parameter


class DeferredTensor:
    """The place of a parameter that waits for its shape. Everything but operators needs the shape, and raises
    DeferredInitializationError until it is known."""

    __slots__ = ("_ctx", "_parameter")
    __array_priority__ = 2000.0

    def __init__(self, parameter: Parameter, ctx: Context) -> None:
        self._parameter = parameter
        self._ctx = ctx

    def array(self) -> NDArray:
        """The initialised array. Raises DeferredInitializationError while the shape is unknown."""
        return stand_in(self._parameter, self._ctx)

    def known_shape(self) -> Shape:
        """What is known of the shape, -1 for an unknown extent."""
        shape = self._parameter._shape
        return None if shape is None else tuple([extent if extent > 0 else -1 for extent in shape])

    def fill(self, shape: Shape, operator: str) -> NDArray:
        """Initialise the parameter with what `operator` inferred. Raises ValueError when a part is still unknown."""
        parameter = self._parameter
        if parameter._data is None:
            if shape is None or -1 in shape:
                raise ValueError(
                    f"deferred initialization failed: the shape of {parameter.describe()} cannot be inferred "
                    f"from the other inputs of operator {operator}; give its whole shape"
                )
            parameter.shape = shape
            parameter._finish_deferred_init()
        return self.array()

    def __tensor_call__(self, call: BoundCall) -> Any:
        return call_operator(call._replace(inputs=_filled(call)))

    @staticmethod
    def __tensor_binary__(row: Binary, lhs: Any, rhs: Any) -> Any:
        """Arithmetic with an array of the same shape tells the shape, as `elemwise_*` does in a graph."""
        for value, other in ((lhs, rhs), (rhs, lhs)):
            if isinstance(value, DeferredTensor) and isinstance(other, NDArray) and value._parameter._data is None:
                value.fill(unify(value.known_shape(), shape_of(other)), row.elementwise)
        return apply_binary(row, _array_of(lhs), _array_of(rhs))

    @staticmethod
    def __tensor_numpy__(F: Dialect, row: Function, x1: Any, x2: Any) -> Any:
        """The same in numpy mode."""
        for value, other in ((x1, x2), (x2, x1)):
            if isinstance(value, DeferredTensor) and isinstance(other, NDArray) and value._parameter._data is None:
                value.fill(unify(value.known_shape(), shape_of(other)), row.pair)
        return apply_numpy(F, row, _array_of(x1), _array_of(x2))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.array()[key]

    def __len__(self) -> int:
        return len(self.array())

    def __neg__(self) -> Any:
        return -self.array()

    def __abs__(self) -> Any:
        return abs(self.array())


def stand_in(parameter: Parameter, ctx: Context) -> NDArray:
    """What stands for an initialised parameter: its array, or in a graph being built an input that it feeds."""
    array = parameter.data(ctx)
    if state.builder is None:
        return array
    lifted: NDArray = state.builder.lift(array, parameter.name, lambda: parameter.data(ctx))
    return lifted


def shape_of(value: Any) -> Shape:
    """The known shape of an operator's input. Asking the graph and not the tensor keeps the graph open for others."""
    if isinstance(value, DeferredTensor):
        return value.known_shape()
    if not isinstance(value, NDArray):
        return None
    if state.builder is not None:
        known: Shape = state.builder.facts[state.builder.lift(value).head].shape
        return known
    return value.shape


def _filled(call: BoundCall) -> tuple[Any, ...]:
    op = call.op
    shapes = [shape_of(value) for value in call.inputs]
    outputs = len(op.output_names(call.attrs))
    try:
        inferred, _ = (op.infer_shape or same_shape)(call.attrs, shapes, [None] * outputs)
    except MXNetError as error:
        raise ValueError(f"deferred initialization failed: operator {op.name}: {error}") from error
    return tuple([v.fill(s, op.name) if isinstance(v, DeferredTensor) else v for v, s in zip(call.inputs, inferred)])


def _array_of(value: Any) -> Any:
    return value.array() if isinstance(value, DeferredTensor) else value


def _dunder(row: Binary, reflected: bool) -> Callable[[DeferredTensor, Any], Any]:
    if reflected:
        return lambda self, other: DeferredTensor.__tensor_binary__(row, other, self)
    return lambda self, other: DeferredTensor.__tensor_binary__(row, self, other)


for _row in BINARY:
    if _row.dunder:
        setattr(DeferredTensor, f"__{_row.dunder}__", _dunder(_row, False))
        setattr(DeferredTensor, f"__r{_row.dunder}__", _dunder(_row, True))
