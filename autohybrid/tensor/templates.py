"""Code templates for the generated executor (`OpDef.fast`): element-wise operators as NumPy's ufuncs, written into a
dead intermediate where there is one.

A template gets a `graph.codegen.CallSite` and returns lines of code, or None where the kernel must run: for dtypes
whose results a ufunc alone does not give (integers, half precision) and for arrays without axes (a ufunc makes scalars
of them).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Template = Callable[[Any], list[str] | None]


def _is_simple(call: Any) -> bool:
    known = call.out_dtype in ("float32", "float64") and all(dtype == call.out_dtype for dtype in call.dtypes)
    return known and len(call.out_shape) > 0


def ufunc(name: str) -> Template:
    """`out = <name>(inputs)`."""

    def template(call: Any) -> list[str] | None:
        if not _is_simple(call):
            return None
        return [f"{call.out} = {call.function(name)}({', '.join(call.inputs)}{call.into()})"]

    return template


def ufunc_with_scalar(name: str, reflected: bool = False) -> Template:
    """`out = <name>(x, scalar)`, or `<name>(scalar, x)`."""

    def template(call: Any) -> list[str] | None:
        if not _is_simple(call):
            return None
        operands = [call.inputs[0], call.scalar("scalar", call.attrs.scalar)]
        if reflected:
            operands.reverse()
        return [f"{call.out} = {call.function(name)}({', '.join(operands)}{call.into()})"]

    return template


def power_with_scalar(call: Any) -> list[str] | None:
    """`out = x ** scalar`, by the ufunc that `**` takes for the common exponents."""
    special = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}.get(call.attrs.scalar)
    return (ufunc_with_scalar("power") if special is None else ufunc(special))(call)


def rectifier(call: Any) -> list[str] | None:
    """`out = maximum(x, 0)`."""
    if not _is_simple(call):
        return None
    return [f"{call.out} = {call.function('maximum')}({call.inputs[0]}, {call.scalar('zero', 0.0)}{call.into()})"]


def logistic(call: Any) -> list[str] | None:
    """`out = 1 / (1 + exp(-x))` in one buffer."""
    if not _is_simple(call):
        return None
    out = call.out
    return [
        f"{out} = {call.function('negative')}({call.inputs[0]}{call.into()})",
        f"{call.function('exp')}({out}, {out})",
        f"{call.function('add')}({out}, {call.scalar('one', 1.0)}, {out})",
        f"{call.function('reciprocal')}({out}, {out})",
    ]


def then_reciprocal(name: str) -> Template:
    """`out = 1 / <name>(x)` in one buffer."""

    def template(call: Any) -> list[str] | None:
        if not _is_simple(call):
            return None
        out = call.out
        return [
            f"{out} = {call.function(name)}({call.inputs[0]}{call.into()})",
            f"{call.function('reciprocal')}({out}, {out})",
        ]

    return template
