"""Arithmetic and methods of Symbol, from the same tables that give NDArray its own; and those a Symbol refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.errors import NotImplementedForSymbol
from autohybrid.graph.compose import call_operator, make_call
from autohybrid.graph.symbol import Symbol
from autohybrid.graph.symbol_functions import split_v2
from autohybrid.tensor.arithmetic import BINARY, DIVISION, NUMBERS, Binary
from autohybrid.tensor.frontend import BoundCall, bind
from autohybrid.tensor.ops import get_operator, records

_ARITHMETIC = ("add", "sub", "mul", "truediv", "mod", "pow")
_REFUSED_OPERATORS = {"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//="}
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
    return (
        name.replace("_scalar", "scalar")
        if row.dunder in _ARITHMETIC or row.function in ("maximum", "minimum", "hypot")
        else name
    )


def _call(name: str, hint: str, inputs: tuple[Symbol, ...], attrs: dict[str, Any]) -> Symbol:
    op = get_operator(name)
    return make_call(BoundCall(op, name, op.parse(attrs), inputs, None, None, None), hint)


def _dunder(row: Binary, reflected: bool) -> Callable[[Symbol, Any], Any]:
    if reflected and row.dunder == "pow":
        # MXNet's `__rpow__` calls the operator by another alias than `sym.pow` does, so that its nodes count apart.
        return lambda self, other: _call(
            row.reflected_scalar, row.reflected_scalar, (self,), {"scalar": _number(other)}
        )
    if reflected:
        return lambda self, other: apply_binary(row, other, self)
    return lambda self, other: apply_binary(row, self, other)


def _number(value: Any) -> Any:
    if not isinstance(value, NUMBERS):
        raise TypeError(f"type {type(value)} not supported")
    return value


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


# -- methods with a Python signature -----------------------------------------------------------------------------------
def _through(operator: str, registered: str, self: Symbol, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Symbol:
    return call_operator(bind(get_operator(operator), registered, (self, *args), kwargs))


def __neg__(self: Symbol) -> Symbol:
    return _call("_mul_scalar", "_mulscalar", (self,), {"scalar": -1.0})


def __abs__(self: Symbol) -> Symbol:
    return _through("abs", "abs", self, (), {})


def __floordiv__(self: Symbol, other: Any) -> Symbol:
    """The floor of the quotient; for floating-point values, as on arrays."""
    return _through("floor", "floor", apply_binary(DIVISION, self, other), (), {})


def __rfloordiv__(self: Symbol, other: Any) -> Symbol:
    return _through("floor", "floor", apply_binary(DIVISION, other, self), (), {})


def astype(self: Symbol, *args: Any, **kwargs: Any) -> Symbol:
    """The values in another dtype."""
    return _through("Cast", "cast", self, args, kwargs)


def diag(self: Symbol, k: int = 0, **kwargs: Any) -> Symbol:
    """A diagonal of a matrix, or the matrix with this diagonal; `k` places above the main one."""
    return _through("diag", "diag", self, (k,), kwargs)


def expand_dims(self: Symbol, axis: int, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The array with a further axis of extent 1 at `axis`; `inplace` only says that memory may be shared."""
    return _through("expand_dims", "expand_dims", self, (), {"axis": axis, **kwargs})


def flatten(self: Symbol, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The array as a matrix: the first axis, and all others joined; `inplace` only says that memory may be shared."""
    return _through("Flatten", "flatten", self, (), kwargs)


def squeeze(self: Symbol, axis: Any = None, inplace: bool = False, **kwargs: Any) -> Symbol:
    """The array without axes of extent 1 (all, or those in `axis`); `inplace` only says that memory may be shared."""
    return _through("squeeze", "squeeze", self, (), {"axis": axis, **kwargs})


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
    own = __neg__, __abs__, __floordiv__, __rfloordiv__, astype, diag, expand_dims, flatten, squeeze, split_v2
    for method in own:
        setattr(cls, method.__name__, method)
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
