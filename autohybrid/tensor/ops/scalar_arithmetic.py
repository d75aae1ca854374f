"""Arithmetic of an array and a number: `_plus_scalar`, `_rdiv_scalar`... (what `x + 1` and `2 / x` stand for).

Beside an integer array the number is truncated to an integer and the result stays integer (MXNet 1.9.1's rule for
classic arrays); `is_int=False` gives float64 instead. A boolean array counts as int64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, divide, is_floating, scalar_dtype, with_scalar
from autohybrid.tensor.opdef import Gradient, GradNode, OpDef, Sample
from autohybrid.tensor.templates import power_with_scalar, ufunc_with_scalar

Compute = Callable[[Any, Any, Any], Any]
Slope = Callable[[Any, Any, float, GradNode], Any]


@dataclass(frozen=True, slots=True)
class _Row:
    """One function of an array and a number: `compute(xp, x, number)`, `slope(F, head, number, node)`."""

    name: str
    aliases: tuple[str, ...]
    compute: Compute
    slope: Slope
    formula: str
    low: float = 0.5
    high: float = 2.0


def _power(xp: Any, base: Any, exponent: Any) -> Any:
    array = base if hasattr(base, "dtype") else exponent
    if array.dtype.kind == "f":
        return base**exponent
    floats = array.astype("float64")
    return (floats**exponent if array is base else base**floats).astype(array.dtype)


def _remainder(xp: Any, x: Any, y: Any) -> Any:
    if not hasattr(y, "dtype"):
        return xp.remainder(x, y) if y else xp.zeros_like(x)
    return xp.where(y == 0, xp.zeros_like(y), xp.remainder(x, y))


def _reciprocal_slope(F: Any, h: Any, s: float, node: GradNode) -> Any:
    return h * F._rdiv_scalar(F.square(node.inputs[0]), scalar=-s)


def _remainder_slope(F: Any, h: Any, s: float, node: GradNode) -> Any:
    if not is_floating(node.inputs[0]):
        return F.zeros_like(h)
    return F.negative(h * F.floor(F._rdiv_scalar(node.inputs[0], scalar=s)))


def _power_slope(F: Any, h: Any, s: float, node: GradNode) -> Any:
    x = node.inputs[0]
    if s == 0:
        return F.zeros_like(h)
    if s == 1:
        return h
    return h * F._mul_scalar(x if s == 2 else F._power_scalar(x, scalar=s - 1), scalar=s)


def _exponential_slope(F: Any, h: Any, s: float, node: GradNode) -> Any:
    log = math.log(s) if s > 0 else -math.inf if s == 0 else math.nan
    return F._mul_scalar(h * node.outputs[0], scalar=log)


_ROWS = (
    _Row("_plus_scalar", ("_PlusScalar",), lambda xp, x, s: xp.add(x, s), lambda F, h, s, n: h, "x + scalar"),
    _Row("_minus_scalar", ("_MinusScalar",), lambda xp, x, s: xp.subtract(x, s), lambda F, h, s, n: h, "x - scalar"),
    _Row(
        "_rminus_scalar",
        ("_RMinusScalar",),
        lambda xp, x, s: xp.subtract(s, x),
        lambda F, h, s, n: F.negative(h),
        "scalar - x",
    ),
    _Row(
        "_mul_scalar",
        ("_MulScalar",),
        lambda xp, x, s: xp.multiply(x, s),
        lambda F, h, s, n: F._mul_scalar(h, scalar=s),
        "x * scalar",
    ),
    _Row("_div_scalar", ("_DivScalar",), divide, lambda F, h, s, n: F._div_scalar(h, scalar=s), "x / scalar"),
    _Row("_rdiv_scalar", ("_RDivScalar",), lambda xp, x, s: divide(xp, s, x), _reciprocal_slope, "scalar / x"),
    _Row(
        "_mod_scalar",
        ("_ModScalar",),
        _remainder,
        lambda F, h, s, n: h if is_floating(n.inputs[0]) else F.zeros_like(h),
        "the remainder of x / scalar, with the sign of the scalar",
    ),
    _Row(
        "_rmod_scalar",
        ("_RModScalar",),
        lambda xp, x, s: _remainder(xp, s, x),
        _remainder_slope,
        "the remainder of scalar / x, with the sign of x",
    ),
    _Row("_power_scalar", ("_PowerScalar",), _power, _power_slope, "x to the power scalar"),
    _Row(
        "_rpower_scalar",
        ("_RPowerScalar",),
        lambda xp, x, s: _power(xp, s, x),
        _exponential_slope,
        "scalar to the power x",
    ),
    _Row(
        "_maximum_scalar",
        ("_MaximumScalar", "_npi_maximum_scalar"),
        lambda xp, x, s: xp.maximum(x, s),
        lambda F, h, s, n: h * F._greater_equal_scalar(n.inputs[0], scalar=s),
        "the larger of x and scalar",
    ),
    _Row(
        "_minimum_scalar",
        ("_MinimumScalar", "_npi_minimum_scalar"),
        lambda xp, x, s: xp.minimum(x, s),
        lambda F, h, s, n: h * F._lesser_equal_scalar(n.inputs[0], scalar=s),
        "the smaller of x and scalar",
    ),
    _Row(
        "_hypot_scalar",
        ("_HypotScalar", "_npi_hypot_scalar"),
        lambda xp, x, s: xp.hypot(x, s).astype(x.dtype, copy=False),
        lambda F, h, s, n: h * (n.inputs[0] / n.outputs[0]),
        "sqrt(x*x + scalar*scalar)",
    ),
)

_TEMPLATES = {
    "_plus_scalar": ufunc_with_scalar("add"),
    "_minus_scalar": ufunc_with_scalar("subtract"),
    "_rminus_scalar": ufunc_with_scalar("subtract", reflected=True),
    "_mul_scalar": ufunc_with_scalar("multiply"),
    "_div_scalar": ufunc_with_scalar("true_divide"),
    "_rdiv_scalar": ufunc_with_scalar("true_divide", reflected=True),
    "_rpower_scalar": ufunc_with_scalar("power", reflected=True),
    "_maximum_scalar": ufunc_with_scalar("maximum"),
    "_minimum_scalar": ufunc_with_scalar("minimum"),
    "_power_scalar": power_with_scalar,
}


def _kernel(compute: Compute) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        return compute(xp, *with_scalar(x, attrs))

    return kernel


def _gradient(slope: Slope) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        return slope(F, heads[0], node.attrs.scalar, node)

    return gradient


def _record(row: _Row) -> OpDef:
    low, high = row.low, row.high
    return OpDef(
        row.name,
        _kernel(row.compute),
        attrs=SCALAR_ATTRS,
        infer_dtype=scalar_dtype,
        grad=_gradient(row.slope),
        aliases=row.aliases,
        fast=_TEMPLATES.get(row.name),
        doc=f"{row.formula}, element by element. Beside an integer array the number is truncated.",
        samples=(
            Sample(((1,),), low=low, high=high),
            Sample(((2, 3),), {"scalar": 2.5}, low=low, high=high),
            Sample(((3, 1, 5),), {"scalar": 0.75}, low=low, high=high),
            Sample(((0, 2),), {"scalar": 3}, low=low, high=high),
            Sample(((4,),), {"scalar": 2}, low=1, high=6, dtypes=("int32",)),
            Sample(((4,),), {"scalar": 1.5, "is_int": False}, low=1, high=6, dtypes=("int32",)),
            Sample(((2,),), {"scalar": "a"}, error="MXNetError"),
        ),
    )


OPERATORS: tuple[OpDef, ...] = tuple(map(_record, _ROWS))
