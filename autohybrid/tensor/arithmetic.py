"""The arithmetic of arrays and symbols: one table of Python operators and the operators they stand for.

`x + y` on arrays broadcasts (`broadcast_add`), with a number it is `_plus_scalar`. The Symbol class and the graph
builder read the same table, so the three cannot disagree.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray, refuse_inplace
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator


@dataclass(frozen=True)
class Binary:
    """One Python operator. `function` is its name as `nd.<function>`, `broadcast` the operator on two arrays.

    `stem` and `reflected` give the registered names of the element-wise operator (`_plus`), of that with a number
    (`_plus_scalar`) and of that with the number on the left (`_rminus_scalar`).
    """

    dunder: str
    function: str
    broadcast: str
    stem: str
    reflected: str
    on_numbers: Callable[[Any, Any], Any]

    @cached_property
    def elementwise(self) -> str:
        """The operator on arrays of one shape."""
        return f"_{self.stem}"

    @cached_property
    def scalar(self) -> str:
        """The operator on an array and a number."""
        return f"_{self.stem}_scalar"

    @cached_property
    def reflected_scalar(self) -> str:
        """The operator on a number and an array."""
        return f"_{self.reflected}_scalar"


BINARY: tuple[Binary, ...] = (
    Binary("add", "add", "broadcast_add", "plus", "plus", operator.add),
    Binary("sub", "subtract", "broadcast_sub", "minus", "rminus", operator.sub),
    Binary("mul", "multiply", "broadcast_mul", "mul", "mul", operator.mul),
    Binary("truediv", "divide", "broadcast_div", "div", "rdiv", operator.truediv),
    Binary("mod", "modulo", "broadcast_mod", "mod", "rmod", operator.mod),
    Binary("pow", "power", "broadcast_power", "power", "rpower", operator.pow),
    Binary("eq", "equal", "broadcast_equal", "equal", "equal", operator.eq),
    Binary("ne", "not_equal", "broadcast_not_equal", "not_equal", "not_equal", operator.ne),
    Binary("gt", "greater", "broadcast_greater", "greater", "lesser", operator.gt),
    Binary("ge", "greater_equal", "broadcast_greater_equal", "greater_equal", "lesser_equal", operator.ge),
    Binary("lt", "lesser", "broadcast_lesser", "lesser", "greater", operator.lt),
    Binary("le", "lesser_equal", "broadcast_lesser_equal", "lesser_equal", "greater_equal", operator.le),
    # Functions without a Python operator.
    Binary("", "maximum", "broadcast_maximum", "maximum", "maximum", max),
    Binary("", "minimum", "broadcast_minimum", "minimum", "minimum", min),
    Binary("", "hypot", "broadcast_hypot", "hypot", "hypot", np.hypot),
    Binary("", "logical_and", "broadcast_logical_and", "logical_and", "logical_and", np.logical_and),
    Binary("", "logical_or", "broadcast_logical_or", "logical_or", "logical_or", np.logical_or),
    Binary("", "logical_xor", "broadcast_logical_xor", "logical_xor", "logical_xor", np.logical_xor),
)
DIVISION = next(row for row in BINARY if row.dunder == "truediv")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "mod", "pow")
_IN_PLACE = ("add", "sub", "mul", "truediv", "mod")
NUMBERS = (numbers.Number, np.generic)
_PLAIN = frozenset((int, float))
_REMEMBERED = 4096
_scalar_attrs: dict[tuple[str, Any, type], Attrs] = {}


@cache
def _resolved(name: str) -> tuple[OpDef, Attrs]:
    """An operator with its default attributes."""
    op = get_operator(name)
    assert op.default_attrs is not None
    return op, op.default_attrs


def apply_binary(row: Binary, lhs: Any, rhs: Any, out: NDArray | None = None) -> Any:
    """`lhs <operator> rhs` where at least one is an NDArray, or both are numbers. Raises TypeError for other types."""
    if isinstance(lhs, NDArray):
        if isinstance(rhs, NDArray):
            return invoke(*_resolved(row.broadcast), (lhs, rhs), out)
        if type(rhs) in _PLAIN or (isinstance(rhs, NUMBERS) and not isinstance(rhs, complex)):
            return _with_scalar(row.scalar, lhs, rhs, out)
    elif isinstance(rhs, NDArray) and isinstance(lhs, NUMBERS) and not isinstance(lhs, complex):
        return _with_scalar(row.reflected_scalar, rhs, lhs, out)
    elif isinstance(lhs, NUMBERS) and isinstance(rhs, NUMBERS):
        result = row.on_numbers(lhs, rhs)
        return int(result) if isinstance(result, (bool, np.bool_)) else result  # 1 or 0, as arrays give
    for value in (lhs, rhs):
        delegate = getattr(type(value), "__tensor_binary__", None)
        if delegate is not None:
            return delegate(row, lhs, rhs)
    wrong = rhs if isinstance(lhs, (NDArray, *NUMBERS)) and not isinstance(lhs, complex) else lhs
    raise TypeError(f"type {type(wrong)} not supported")


def _with_scalar(name: str, array: NDArray, number: Any, out: NDArray | None) -> Any:
    key = name, number or repr(number), type(number)  # 0.0 equals -0.0, but is another number
    attrs = _scalar_attrs.get(key)
    op, _ = _resolved(name)
    if attrs is None:
        if len(_scalar_attrs) > _REMEMBERED:
            _scalar_attrs.clear()
        attrs = _scalar_attrs[key] = op.parse({"scalar": number})
    return invoke(op, attrs, (array,), out)


def _dunder(row: Binary, reflected: bool) -> Callable[[NDArray, Any], Any]:
    if reflected:
        return lambda self, other: apply_binary(row, other, self)
    return lambda self, other: apply_binary(row, self, other)


def _in_place(row: Binary) -> Callable[[NDArray, Any], NDArray]:
    def method(self: NDArray, other: Any) -> NDArray:
        refuse_inplace(self)
        apply_binary(row, self, other, out=self)
        return self

    return method


def _negative(self: NDArray) -> Any:
    return _with_scalar("_mul_scalar", self, -1.0, None)  # as in MXNet, where -x of a bool array is an int64 array


def _absolute(self: NDArray) -> Any:
    return invoke(*_resolved("abs"), (self,))


def _floor_divide(lhs: Any, rhs: Any) -> Any:
    """The floor of the quotient, which MXNet 1.9.1 does not have. Raises TypeError for integers, as it does: their
    quotient is cut off towards 0."""
    for operand in (lhs, rhs):
        if isinstance(operand, NDArray) and np.dtype(operand.dtype).kind != "f":
            raise TypeError(
                f"`//` is defined for floating-point arrays only, got {np.dtype(operand.dtype).name}; "
                "`/` of integer arrays cuts the fraction off"
            )
    quotient = apply_binary(DIVISION, lhs, rhs)
    return invoke(*_resolved("floor"), (quotient,))


def _floor_divide_in_place(self: NDArray, other: Any) -> NDArray:
    refuse_inplace(self)
    self[:] = _floor_divide(self, other)
    return self


_FLOOR_DIVISION: dict[str, Callable[[Any, Any], Any]] = {
    "__floordiv__": _floor_divide,
    "__rfloordiv__": lambda self, other: _floor_divide(other, self),
    "__ifloordiv__": _floor_divide_in_place,
}


def install(cls: type[NDArray]) -> None:
    """Attach the Python operators of the table to `cls`."""
    for row in BINARY:
        if not row.dunder:
            continue
        setattr(cls, f"__{row.dunder}__", _dunder(row, False))
        if row.dunder in _ARITHMETIC:
            setattr(cls, f"__r{row.dunder}__", _dunder(row, True))
        if row.dunder in _IN_PLACE:
            setattr(cls, f"__i{row.dunder}__", _in_place(row))
    for name, function in _FLOOR_DIVISION.items():
        setattr(cls, name, function)
    cls.__neg__ = _negative  # type: ignore[method-assign]
    cls.__abs__ = _absolute  # type: ignore[attr-defined]


def function_of(row: Binary) -> Callable[..., Any]:
    """`nd.<row.function>(lhs, rhs)`."""

    def function(lhs: Any, rhs: Any) -> Any:
        return apply_binary(row, lhs, rhs)

    function.__name__ = function.__qualname__ = row.function
    function.__doc__ = f"`{row.function}` of two arrays (broadcast together), or of an array and a number."
    return function
