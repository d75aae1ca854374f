"""Code templates for the generated executor (`OpDef.fast`).

A template gets a `graph.call_site.CallSite` and returns lines of code, or None where the kernel must run: for dtypes
whose results the code alone does not give (integers, half precision) and for arrays without axes (a ufunc makes scalars
of them). Two kinds say more of themselves: `Elementwise` ones also work on any piece of their arrays, so runs of them
become one loop; `View` ones give their first input in another shape, in the same memory where that can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Template = Callable[[Any], list[str] | None]


def is_simple(call: Any) -> bool:
    """Whether all arrays have one dtype, float32 or float64, and the output has axes."""
    known = call.out_dtype in ("float32", "float64") and all(dtype == call.out_dtype for dtype in call.dtypes)
    return known and len(call.out_shape) > 0


@dataclass(frozen=True, slots=True)
class Elementwise:
    """Lines that compute each element of the output from those of the inputs at its place (or broadcast to it).

    Of the inputs, only the first `pieces` are such arrays, where that is given; the code sees the others whole. With
    `rows`, an element depends on all of its row (along the last axis), which is then never cut.
    """

    lines: Callable[[Any], list[str]]
    condition: Callable[[Any], bool] = is_simple
    pieces: int | None = None
    rows: bool = False

    def applies(self, call: Any) -> bool:
        """Whether the template can be used for these dtypes, shapes and attributes."""
        return self.condition(call)

    def __call__(self, call: Any) -> list[str] | None:
        return self.lines(call) if self.condition(call) else None


@dataclass(frozen=True, slots=True)
class View:
    """An expression that gives the first input in another shape: all its elements, each once."""

    expression: Callable[[Any], str]

    def __call__(self, call: Any) -> list[str] | None:
        return [f"{call.out} = {self.expression(call)}"]


def ufunc(name: str) -> Elementwise:
    """`out = <name>(inputs)`."""
    return Elementwise(lambda call: [f"{call.out} = {call.function(name)}({', '.join(call.inputs)}{call.into()})"])


def ufunc_with_scalar(name: str, reflected: bool = False) -> Elementwise:
    """`out = <name>(x, scalar)`, or `<name>(scalar, x)`."""

    def lines(call: Any) -> list[str]:
        operands = [call.inputs[0], call.scalar("scalar", call.attrs.scalar)]
        if reflected:
            operands.reverse()
        return [f"{call.out} = {call.function(name)}({', '.join(operands)}{call.into()})"]

    return Elementwise(lines)


def _power_lines(call: Any) -> list[str]:
    special = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}.get(call.attrs.scalar)
    return (ufunc_with_scalar("power") if special is None else ufunc(special)).lines(call)


#: `out = x ** scalar`, by the ufunc that `**` takes for the common exponents.
power_with_scalar = Elementwise(_power_lines)


def rectifier_lines(call: Any) -> list[str]:
    """`out = maximum(x, 0)`."""
    return [f"{call.out} = {call.function('maximum')}({call.inputs[0]}, {call.filled('zeros', 0.0)}{call.into()})"]


rectifier = Elementwise(rectifier_lines)


def _logistic_lines(call: Any) -> list[str]:
    out = call.out
    return [
        f"{out} = {call.function('negative')}({call.inputs[0]}{call.into()})",
        f"{call.function('exp')}({out}, {out})",
        f"{call.function('add')}({out}, {call.scalar('one', 1.0)}, {out})",
        f"{call.function('reciprocal')}({out}, {out})",
    ]


#: `out = 1 / (1 + exp(-x))` in one buffer.
logistic = Elementwise(_logistic_lines)


def then_reciprocal(name: str) -> Elementwise:
    """`out = 1 / <name>(x)` in one buffer."""

    def lines(call: Any) -> list[str]:
        out = call.out
        return [
            f"{out} = {call.function(name)}({call.inputs[0]}{call.into()})",
            f"{call.function('reciprocal')}({out}, {out})",
        ]

    return Elementwise(lines)


#: The first input with the shape of the output, elements in the same order.
reshaped = View(lambda call: f"{call.inputs[0]}.reshape({call.out_shape})")


def _kernel_lines(call: Any) -> list[str]:
    return [call.assign(f"{call.kernel()}({', '.join(call.inputs)})")]


#: An element-wise kernel of more than one step: over large arrays, its intermediates then stay in the cache too.
elementwise_kernel = Elementwise(_kernel_lines)
