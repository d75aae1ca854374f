"""Arithmetic and methods of Symbol, from the same tables that give NDArray its own; and those a Symbol refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import NotImplementedForSymbol
from autohybrid.graph.compose import call_operator, make_call
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.arithmetic import BINARY, NUMBERS, Binary
from autohybrid.tensor.frontend import BoundCall, bind
from autohybrid.tensor.ops import get_operator, records

_ARITHMETIC = ("add", "sub", "mul", "truediv", "mod", "pow")
_REFUSED_OPERATORS = {"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/="}
_REFUSED = ("asnumpy", "asscalar", "wait_to_read", "copy", "detach", "backward", "as_in_context")


def apply_binary(row: Binary, lhs: Any, rhs: Any) -> Any:
    """`lhs <operator> rhs` where at least one is a Symbol, or both are numbers. Symbols do not broadcast."""
    if isinstance(lhs, Symbol) and isinstance(rhs, Symbol):
        return _call(row.elementwise, row.elementwise, (lhs, rhs), {})
    if isinstance(lhs, Symbol) and isinstance(rhs, NUMBERS):
        return _call(row.scalar, _scalar_hint(row, row.scalar), (lhs,), {"scalar": rhs})
    if isinstance(rhs, Symbol) and isinstance(lhs, NUMBERS):
        return _call(row.reflected_scalar, _scalar_hint(row, row.reflected_scalar), (rhs,), {"scalar": lhs})
    if isinstance(lhs, NUMBERS) and isinstance(rhs, NUMBERS):
        return row.on_numbers(lhs, rhs)
    raise TypeError(f"type {type(rhs if isinstance(lhs, (Symbol, *NUMBERS)) else lhs)} not supported")


def _scalar_hint(row: Binary, name: str) -> str:
    # MXNet's front end calls `_PlusScalar` for arithmetic, but `_equal_scalar` for comparisons.
    return name.replace("_scalar", "scalar") if row.dunder in _ARITHMETIC or row.function in ("maximum", "minimum", "hypot") else name


def _call(name: str, hint: str, inputs: tuple[Symbol, ...], attrs: dict[str, Any]) -> Symbol:
    op = get_operator(name)
    return make_call(BoundCall(op, name, op.parse(attrs), inputs, None, None, None), hint)


def _dunder(row: Binary, reflected: bool) -> Callable[[Symbol, Any], Any]:
    if reflected:
        return lambda self, other: apply_binary(row, other, self)
    return lambda self, other: apply_binary(row, self, other)


def _refusal(name: str, alias: str | None) -> Callable[..., Any]:
    def method(self: Symbol, *args: Any) -> Any:
        raise NotImplementedForSymbol(name, alias, *args)

    method.__name__ = name
    return method


def _method(op: Any, name: str) -> Callable[..., Any]:
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        return call_operator(bind(op, name, (self, *args), kwargs))

    method.__name__ = name
    method.__qualname__ = f"Symbol.{name}"
    method.__doc__ = op.doc
    return method


def install(cls: type[Symbol]) -> None:
    """Attach operators and methods to `cls`."""
    for row in BINARY:
        if row.dunder:
            setattr(cls, f"__{row.dunder}__", _dunder(row, False))
        if row.dunder in _ARITHMETIC:
            setattr(cls, f"__r{row.dunder}__", _dunder(row, True))
    for name, alias in _REFUSED_OPERATORS.items():
        setattr(cls, f"__{name}__", _refusal(f"__{name}__", alias))
    for name in _REFUSED:
        setattr(cls, name, _refusal(name, None))
    cls.__neg__ = lambda self: self * -1.0  # type: ignore[attr-defined]
    cls.__abs__ = lambda self: self.abs()  # type: ignore[attr-defined]
    for op in records():
        for name in op.methods:
            if name not in vars(cls):
                setattr(cls, name, _method(op, name))
    cls.__hash__ = None  # type: ignore[assignment]  # setting __eq__ afterwards does not clear it


def function_of(row: Binary) -> Callable[..., Any]:
    """`sym.<row.function>(lhs, rhs)`: maximum, minimum, power, hypot."""

    def function(left: Any, right: Any) -> Any:
        return apply_binary(row, left, right)

    function.__name__ = function.__qualname__ = row.function
    function.__doc__ = f"`{row.function}` of two symbols of one shape, or of a symbol and a number."
    return function
