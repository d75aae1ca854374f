"""Element-wise functions of one or two arrays, clip, where, and the tests that compare whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autohybrid.tensor.arithmetic import NUMBERS
from autohybrid.tensor.numpy_arithmetic import FUNCTIONS as BINARY
from autohybrid.tensor.numpy_arithmetic import Function, apply
from autohybrid.tensor.numpy_dialect import Dialect
from autohybrid.tensor.ops import get_operator

NAMESPACE = ""

#: Public name -> the operator behind it.
_UNARY = {
    name: f"_npi_{name}"
    for name in (
        "absolute", "negative", "sign", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
        "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
        "arctanh", "ceil", "floor", "trunc", "fix", "rint", "degrees", "radians", "isnan", "isinf", "isfinite",
        "isposinf", "isneginf", "logical_not", "bitwise_not",
    )
}  # fmt: skip
_UNARY |= {"abs": "_npi_abs", "fabs": "_npi_abs", "rad2deg": "_npi_degrees", "deg2rad": "_npi_radians",
           "invert": "_npi_bitwise_not"}  # fmt: skip


def _refuse(name: str, kwargs: dict[str, Any]) -> None:
    """numpy's further keywords (where, casting...) do nothing here, so they must not be given."""
    if kwargs:
        raise TypeError(f"{name}() does not take the keyword {next(iter(kwargs))!r}")


def _unary(name: str, operator: str) -> Callable[..., Any]:
    def function(F: Dialect, x: Any, out: Any = None, **kwargs: Any) -> Any:
        _refuse(name, kwargs)
        if F.is_tensor(x):
            return F.call(operator, x, out=out)
        if isinstance(x, NUMBERS):
            return getattr(np, name)(x)
        raise TypeError(f"{name}() takes an mx.np array or a number, got {type(x).__name__}")

    function.__doc__ = get_operator(operator).doc
    return function


def _binary(name: str, row: Function) -> Callable[..., Any]:
    def function(F: Dialect, x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        _refuse(name, kwargs)
        return apply(F, row, x1, x2, out)

    function.__doc__ = f"{row.doc} The operands broadcast together; one may be a number."
    return function


def around(F: Dialect, x: Any, decimals: int = 0, out: Any = None, **kwargs: Any) -> Any:
    """Rounded to `decimals` places, halves away from 0."""
    _refuse("around", kwargs)
    if isinstance(x, (int, float)):
        return np.around(x, decimals)
    return F.call("_npi_around", x, out=out, decimals=decimals)


def nan_to_num(
    F: Dialect, x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None, **kwargs: Any
) -> Any:
    """NaN and infinities replaced by numbers; with `copy=False` in `x` itself."""
    _refuse("nan_to_num", kwargs)
    if isinstance(x, (int, float)):
        return np.nan_to_num(x, copy, nan, posinf, neginf)
    out = None if copy or F.symbolic else x
    return F.call("_npi_nan_to_num", x, out=out, copy=copy, nan=nan, posinf=posinf, neginf=neginf)


def clip(F: Dialect, a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """The elements, at least `a_min` and at most `a_max`; None leaves a side open. Raises ValueError for two None."""
    if a_min is None and a_max is None:
        raise ValueError("clip() needs `a_min` or `a_max`")
    low, high = -np.inf if a_min is None else a_min, np.inf if a_max is None else a_max
    return F.call("_npi_clip", a, out=out, a_min=low, a_max=high)


def where(F: Dialect, condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where `condition` is not 0, else y, all broadcast together; without x and y the positions (`nonzero`)."""
    if x is None and y is None:
        if F.symbolic:
            raise ValueError("where() of a symbol needs x and y")
        from autohybrid.tensor.numpy_functions.searching import nonzero

        return nonzero(F, condition)
    if x is None or y is None:
        raise ValueError("where() takes both of x and y, or neither")
    if not F.is_tensor(condition):
        if not isinstance(condition, NUMBERS):
            raise TypeError(f"where(): `condition` must be an mx.np array or a number, got {type(condition).__name__}")
        return x if condition != 0 else y
    if F.is_tensor(x):
        if F.is_tensor(y):
            return F.call("_npi_where", condition, x, y)
        return F.call("_npi_where_rscalar", condition, x, scalar=y)
    if F.is_tensor(y):
        return F.call("_npi_where_lscalar", condition, y, scalar=x)
    return F.call("_npi_where_scalar2", condition, x=x, y=y)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _unary(name, operator) for name, operator in _UNARY.items()},
    **{name: _binary(name, row) for row in BINARY for name in row.names},
    "around": around,
    "round": around,
    "round_": around,
    "nan_to_num": nan_to_num,
    "clip": clip,
    "where": where,
}
