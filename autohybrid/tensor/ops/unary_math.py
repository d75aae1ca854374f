"""Element-wise functions of one array: powers, roots, exponentials, logarithms, trigonometry.

Integer arrays keep their dtype; the value is computed in float32 and truncated (MXNet 1.9.1's rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import function, in_floats, numeric_dtype
from autohybrid.tensor.opdef import Gradient, GradNode, OpDef, Sample
from autohybrid.tensor.templates import Template, then_reciprocal, ufunc


@dataclass(frozen=True, slots=True)
class _Row:
    """One function: `slope(F, head, x, y)` is the head times the derivative at x, where y is the value."""

    name: str
    kernel: Callable[..., Any]
    slope: Callable[[Any, Any, Any, Any], Any]
    formula: str
    low: float = -1.0
    high: float = 1.0
    sparse: bool = True
    method: bool = True


def _keeping(name: str) -> Callable[..., Any]:
    """A kernel that calls the namespace's function on any dtype, which it keeps."""

    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        return getattr(xp, name)(x)

    return kernel


def _reciprocal(xp: Any, x: Any) -> Any:
    return xp.true_divide(1, x)


_ROWS = (
    _Row("negative", _keeping("negative"), lambda F, h, x, y: F.negative(h), "-x", method=False),
    _Row("abs", _keeping("absolute"), lambda F, h, x, y: h * F.sign(x), "|x|"),
    _Row("square", _keeping("square"), lambda F, h, x, y: F._mul_scalar(h * x, scalar=2.0), "x * x"),
    _Row(
        "sqrt",
        in_floats(function("sqrt")),
        lambda F, h, x, y: F._mul_scalar(h / y, scalar=0.5),
        "the square root",
        0.2,
        4,
    ),
    _Row(
        "rsqrt",
        in_floats(lambda xp, x: _reciprocal(xp, xp.sqrt(x))),
        lambda F, h, x, y: F._mul_scalar(h * (y / x), scalar=-0.5),
        "1 / sqrt(x)",
        0.2,
        4,
    ),
    _Row(
        "cbrt",
        in_floats(function("cbrt")),
        lambda F, h, x, y: F._mul_scalar(h / F.square(y), scalar=1 / 3),
        "the cube root",
        0.2,
        4,
    ),
    _Row(
        "rcbrt",
        in_floats(lambda xp, x: _reciprocal(xp, xp.cbrt(x))),
        lambda F, h, x, y: F._mul_scalar(h * (y / x), scalar=-1 / 3),
        "1 / cbrt(x)",
        0.2,
        4,
        sparse=False,
    ),
    _Row(
        "reciprocal",
        in_floats(_reciprocal),
        lambda F, h, x, y: F.negative(h * F.square(y)),
        "1 / x",
        0.25,
        3,
        sparse=False,
    ),
    _Row("exp", in_floats(function("exp")), lambda F, h, x, y: h * y, "e to the power x"),
    _Row("expm1", in_floats(function("expm1")), lambda F, h, x, y: h * F.exp(x), "exp(x) - 1, exact near 0"),
    _Row("log", in_floats(function("log")), lambda F, h, x, y: h / x, "the natural logarithm", 0.2, 4),
    _Row(
        "log10",
        in_floats(function("log10")),
        lambda F, h, x, y: F._mul_scalar(h / x, scalar=1 / math.log(10)),
        "the logarithm to base 10",
        0.2,
        4,
    ),
    _Row(
        "log2",
        in_floats(function("log2")),
        lambda F, h, x, y: F._mul_scalar(h / x, scalar=1 / math.log(2)),
        "the logarithm to base 2",
        0.2,
        4,
    ),
    _Row(
        "log1p",
        in_floats(function("log1p")),
        lambda F, h, x, y: h / F._plus_scalar(x, scalar=1.0),
        "log(1 + x), exact near 0",
        -0.5,
        3,
    ),
    _Row("sin", in_floats(function("sin")), lambda F, h, x, y: h * F.cos(x), "the sine of x in radians"),
    _Row("cos", in_floats(function("cos")), lambda F, h, x, y: F.negative(h * F.sin(x)), "the cosine of x in radians"),
    _Row(
        "tan",
        in_floats(function("tan")),
        lambda F, h, x, y: h * F._plus_scalar(F.square(y), scalar=1.0),
        "the tangent of x in radians",
    ),
    _Row(
        "arcsin",
        in_floats(function("arcsin")),
        lambda F, h, x, y: h * F.rsqrt(F._rminus_scalar(F.square(x), scalar=1.0)),
        "the inverse sine, in radians",
        -0.9,
        0.9,
    ),
    _Row(
        "arccos",
        in_floats(function("arccos")),
        lambda F, h, x, y: F.negative(h * F.rsqrt(F._rminus_scalar(F.square(x), scalar=1.0))),
        "the inverse cosine, in radians",
        -0.9,
        0.9,
    ),
    _Row(
        "arctan",
        in_floats(function("arctan")),
        lambda F, h, x, y: h / F._plus_scalar(F.square(x), scalar=1.0),
        "the inverse tangent, in radians",
    ),
    _Row("sinh", in_floats(function("sinh")), lambda F, h, x, y: h * F.cosh(x), "the hyperbolic sine"),
    _Row("cosh", in_floats(function("cosh")), lambda F, h, x, y: h * F.sinh(x), "the hyperbolic cosine"),
    _Row(
        "tanh",
        in_floats(function("tanh")),
        lambda F, h, x, y: h * F._rminus_scalar(F.square(y), scalar=1.0),
        "the hyperbolic tangent",
    ),
    _Row(
        "arcsinh",
        in_floats(function("arcsinh")),
        lambda F, h, x, y: h * F.rsqrt(F._plus_scalar(F.square(x), scalar=1.0)),
        "the inverse hyperbolic sine",
    ),
    _Row(
        "arccosh",
        in_floats(function("arccosh")),
        lambda F, h, x, y: h * F.rsqrt(F._minus_scalar(F.square(x), scalar=1.0)),
        "the inverse hyperbolic cosine",
        1.2,
        4,
    ),
    _Row(
        "arctanh",
        in_floats(function("arctanh")),
        lambda F, h, x, y: h / F._rminus_scalar(F.square(x), scalar=1.0),
        "the inverse hyperbolic tangent",
        -0.8,
        0.8,
    ),
    _Row(
        "degrees",
        in_floats(lambda xp, x: xp.multiply(x, 180 / math.pi)),
        lambda F, h, x, y: F._mul_scalar(h, scalar=180 / math.pi),
        "radians as degrees",
    ),
    _Row(
        "radians",
        in_floats(lambda xp, x: xp.multiply(x, math.pi / 180)),
        lambda F, h, x, y: F._mul_scalar(h, scalar=math.pi / 180),
        "degrees as radians",
    ),
)

#: Where the ufunc has another name than the operator.
_UFUNCS = {"abs": "absolute"}
_COMPOSED = {"rsqrt": then_reciprocal("sqrt"), "rcbrt": then_reciprocal("cbrt")}
_OWN_KERNEL = ("degrees", "radians")


def _template(name: str) -> Template | None:
    if name in _OWN_KERNEL:
        return None
    return _COMPOSED.get(name) or ufunc(_UFUNCS.get(name, name))


def _gradient(row: _Row) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        return row.slope(F, heads[0], node.inputs[0], node.outputs[0])

    return gradient


def _record(row: _Row) -> OpDef:
    low, high = row.low, row.high
    return OpDef(
        row.name,
        row.kernel,
        infer_dtype=numeric_dtype,
        grad=_gradient(row),
        aliases=(f"_sparse_{row.name}",) if row.sparse else (),
        methods=(row.name,) if row.method else (),
        fast=_template(row.name),
        doc=f"{row.formula[0].upper()}{row.formula[1:]}, element by element.",
        samples=(
            *(Sample((shape,), low=low, high=high) for shape in ((1,), (2, 3), (3, 1, 5), (0, 2))),
            Sample(((4,),), low=1, high=4, dtypes=("int32",)),
        ),
    )


OPERATORS: tuple[OpDef, ...] = tuple(map(_record, _ROWS))
