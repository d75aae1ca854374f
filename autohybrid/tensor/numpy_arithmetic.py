"""The Python operators and binary functions of numpy mode, in one table: for arrays, stand-ins and symbols alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autohybrid.tensor.arithmetic import NUMBERS
from autohybrid.tensor.numpy_dialect import Dialect


@dataclass(frozen=True, slots=True)
class Function:
    """A function of two operands: `pair` is the operator of two arrays, `scalar` that with a number on the right,
    `reflected` that with a number on the left; `names` are the public ones, `dunder` its Python operator."""

    names: tuple[str, ...]
    pair: str
    scalar: str
    reflected: str
    doc: str
    dunder: str = ""
    in_place: bool = False


def _row(name: str, doc: str, dunder: str = "", reflected: str = "", in_place: bool = False, *more: str) -> Function:
    return Function((name, *more), f"_npi_{name}", f"_npi_{name}_scalar",
                    f"_npi_{reflected or name}_scalar", doc, dunder, in_place)  # fmt: skip


FUNCTIONS: tuple[Function, ...] = (
    _row("add", "x1 + x2.", "add", in_place=True),
    _row("subtract", "x1 - x2.", "sub", "rsubtract", True),
    _row("multiply", "x1 * x2.", "mul", in_place=True),
    _row("true_divide", "x1 / x2, in floating point.", "truediv", "rtrue_divide", True, "divide"),
    _row("mod", "The remainder of x1 / x2 with the sign of x2.", "mod", "rmod", True, "remainder"),
    _row("power", "x1 to the power x2.", "pow", "rpower"),
    _row("maximum", "The larger of x1 and x2."),
    _row("minimum", "The smaller of x1 and x2."),
    _row("hypot", "sqrt(x1**2 + x2**2)."),
    _row("arctan2", "The angle of the point (x2, x1) in radians.", reflected="rarctan2"),
    _row("copysign", "The magnitude of x1 with the sign of x2.", reflected="rcopysign"),
    _row("ldexp", "x1 times 2 to the power x2.", reflected="rldexp"),
    _row("lcm", "The least common multiple."),
    _row("bitwise_and", "The bits that both have.", "and", in_place=True),
    _row("bitwise_or", "The bits that either has.", "or", in_place=True),
    _row("bitwise_xor", "The bits that exactly one has.", "xor", in_place=True),
    _row("equal", "x1 == x2.", "eq"),
    _row("not_equal", "x1 != x2.", "ne"),
    _row("greater", "x1 > x2.", "gt", "less"),
    _row("greater_equal", "x1 >= x2.", "ge", "less_equal"),
    _row("less", "x1 < x2.", "lt", "greater"),
    _row("less_equal", "x1 <= x2.", "le", "greater_equal"),
)
#: Operators that numpy arrays reflect: `1 + x`.
REFLECTED = ("add", "sub", "mul", "truediv", "mod", "pow", "and", "or", "xor")


def apply(F: Dialect, row: Function, x1: Any, x2: Any, out: Any = None) -> Any:
    """The function of two arrays, an array and a number, or two numbers. Raises TypeError for other operands."""
    if F.is_tensor(x1):
        if F.is_tensor(x2):
            return F.call(row.pair, x1, x2, out=out)
        if _is_number(x2):
            return F.call(row.scalar, x1, out=out, **_number(F, x2, False))
    elif F.is_tensor(x2) and _is_number(x1):
        return F.call(row.reflected, x2, out=out, **_number(F, x1, True))
    elif _is_number(x1) and _is_number(x2):
        return getattr(np, row.names[0])(x1, x2)
    for value in (x1, x2):
        delegate = getattr(type(value), "__tensor_numpy__", None)
        if delegate is not None:
            return delegate(F, row, x1, x2)
    wrong = x2 if F.is_tensor(x1) or _is_number(x1) else x1
    raise TypeError(f"{row.names[0]}: an operand of type {type(wrong).__name__} is neither an mx.np array nor a number")


def _is_number(value: Any) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, complex)


def _number(F: Dialect, value: Any, reflected: bool) -> dict[str, Any]:
    """The attributes for a number. Arrays truncate a number beside integers, symbols say whether it is one: MXNet's
    own difference, which the built graph of a block does not have."""
    attrs = {"scalar": float(value)}
    return {**attrs, "is_int": isinstance(value, (int, np.integer)) and not reflected} if F.symbolic else attrs


def operators(F: Dialect, refuse: Callable[[Any], None] | None) -> dict[str, Callable[..., Any]]:
    """The methods behind Python's operators. `refuse(self)` raises where in-place operators may not write; None: there
    are no in-place operators."""
    methods: dict[str, Callable[..., Any]] = {}
    for row in FUNCTIONS:
        if not row.dunder:
            continue
        methods[f"__{row.dunder}__"] = _binary(F, row)
        if row.dunder in REFLECTED:
            methods[f"__r{row.dunder}__"] = _reflected(F, row)
        if row.in_place and refuse is not None:
            methods[f"__i{row.dunder}__"] = _in_place(F, row, refuse)
    return methods


def _binary(F: Dialect, row: Function) -> Callable[..., Any]:
    return lambda self, other: apply(F, row, self, other)


def _reflected(F: Dialect, row: Function) -> Callable[..., Any]:
    if row.reflected == row.scalar:
        return lambda self, other: apply(F, row, self, other)
    return lambda self, other: apply(F, row, other, self)


def _in_place(F: Dialect, row: Function, refuse: Callable[[Any], None]) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        refuse(self)
        return apply(F, row, self, other, out=self)

    return method
