"""Element-wise functions of one `mx.np` array: those of the classic operators under numpy's names, and predicates.

Integer arrays keep their dtype (the value is computed in floating point and truncated, MXNet 1.9.1's rule); boolean
arrays are refused except by the predicates and `nan_to_num`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.elementwise import numeric_dtype
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, zero_gradient
from autohybrid.tensor.ops import activation_math, identity, rounding, unary_math
from autohybrid.tensor.shapes import fixed_dtype, same_dtype

_CLASSIC: dict[str, OpDef] = {
    op.name: op for module in (unary_math, rounding, activation_math, identity) for op in module.OPERATORS
}
_SAME_NAME = (
    "negative", "sign", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square", "reciprocal",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "ceil", "floor", "trunc", "fix", "rint", "degrees", "radians",
)  # fmt: skip


_SPECIAL = [0.0, float("inf"), float("-inf"), float("nan"), 1.0]


def _renamed(classic: str, name: str, inputs: tuple[str, ...] = ("x",), aliases: tuple[str, ...] = ()) -> OpDef:
    """The record of a classic operator under the name that numpy mode gives it."""
    op = _CLASSIC[classic]
    # An array without axes is what numpy mode adds.
    samples = (*op.samples, Sample(((),), low=op.samples[0].low, high=op.samples[0].high))
    return replace(op, name=name, inputs=inputs, aliases=aliases, methods=(), samples=samples)


# -- predicates --------------------------------------------------------------------------------------------------------
def _on_floats(function: str) -> Callable[..., Any]:
    """A predicate that is false for what is no floating-point number."""

    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        if x.dtype.kind != "f":
            return xp.full(x.shape, function == "isfinite", dtype=bool)
        return xp.asarray(getattr(xp, function)(x))

    return kernel


def _logical_not(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.asarray(xp.logical_not(x))


def _predicate(name: str, kernel: Callable[..., Any], doc: str) -> OpDef:
    return OpDef(
        f"_npi_{name}",
        kernel,
        inputs=("x",),
        infer_dtype=fixed_dtype("bool"),
        grad=zero_gradient,
        doc=f"Whether {doc}, element by element: a boolean array.",
        samples=(
            Sample(((2, 3),)),
            Sample(((),)),
            Sample(((0, 2),)),
            Sample(((5,),), values={0: _SPECIAL}),
            Sample(((3,),), low=0, high=2, dtypes=("int32",)),
        ),
    )


# -- the others --------------------------------------------------------------------------------------------------------
def _whole_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    ins, outs = same_dtype(attrs, ins, outs)
    if ins[0] is not None and ins[0].startswith("float"):
        raise MXNetError(f"only integer and boolean dtypes have bits, got {ins[0]}")
    return ins, outs


def _around(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind != "f":
        return x.copy()
    scale = 10.0**attrs.decimals
    return xp.asarray(_CLASSIC["round"].kernel(xp, attrs, x * scale) / scale).astype(x.dtype, copy=False)


def _around_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    ins, outs = numeric_dtype(attrs, ins, outs)
    if ins[0] == "float16":
        raise MXNetError("dtype float16 is not supported here; convert the array with `astype`")
    return ins, outs


def _nan_to_num(xp: Any, attrs: Attrs, x: Any) -> Any:
    if x.dtype.kind != "f":
        return x.copy()
    return xp.asarray(xp.nan_to_num(x, nan=attrs.nan, posinf=attrs.posinf, neginf=attrs.neginf))


def _nan_to_num_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x = node.inputs[0]
    # Where a number was put in the place of another, the result no longer depends on it.
    return heads[0] * F._cast_as(F._npi_isfinite(x), heads[0])


def _around_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.zeros_like(heads[0])


OPERATORS: tuple[OpDef, ...] = (
    _renamed("abs", "_npi_absolute", aliases=("_npi_abs",)),
    *(_renamed(name, f"_npi_{name}") for name in _SAME_NAME),
    _renamed("relu", "_npx_relu", ("data",)),
    _renamed("sigmoid", "_npx_sigmoid", ("data",)),
    _renamed("_copy", "_np_copy", ("a",)),
    _predicate("isnan", _on_floats("isnan"), "x is not a number"),
    _predicate("isinf", _on_floats("isinf"), "x is infinite"),
    _predicate("isfinite", _on_floats("isfinite"), "x is a finite number"),
    _predicate("isposinf", _on_floats("isposinf"), "x is positive infinity"),
    _predicate("isneginf", _on_floats("isneginf"), "x is negative infinity"),
    _predicate("logical_not", _logical_not, "x is 0"),
    OpDef(
        "_npi_bitwise_not",
        lambda xp, attrs, x: xp.asarray(xp.invert(x)),
        inputs=("x",),
        infer_dtype=_whole_dtype,
        grad=zero_gradient,
        doc="Every bit turned over; of a boolean array the opposite.",
        samples=(
            Sample(((4,),), low=-5, high=5, dtypes=("int32",)),
            Sample(((2, 2),), low=0, high=2, dtypes=("bool",)),
            Sample(((2,),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_around",
        _around,
        inputs=("x",),
        attrs=(Attr("decimals", "int", 0, doc="places behind the point; negative: before it"),),
        infer_dtype=_around_dtype,
        grad=_around_gradient,
        doc="Rounded to `decimals` places, halves away from 0.",
        samples=(
            Sample(((2, 3),), low=-3, high=3, nograd=(0,)),
            Sample(((),), {"decimals": 1}, nograd=(0,)),
            Sample(((3,),), {"decimals": -1}, low=-30, high=30, nograd=(0,)),
            Sample(((3,),), low=-3, high=3, dtypes=("int32",)),
        ),
    ),
    OpDef(
        "_npi_nan_to_num",
        _nan_to_num,
        attrs=(
            Attr("copy", "bool", True, doc="kept for numpy's signature; the result is always an array of its own"),
            Attr("nan", "float", 0.0, doc="what stands for NaN"),
            Attr("posinf", "float?", None, doc="what stands for infinity; the largest number by default"),
            Attr("neginf", "float?", None, doc="what stands for minus infinity; the smallest number by default"),
        ),
        grad=_nan_to_num_gradient,
        doc="NaN and infinities replaced by numbers.",
        samples=(
            Sample(((2, 3),)),
            Sample(((),)),
            Sample(((5,),), {"nan": 2.0, "posinf": 3.0, "neginf": -3.0}, values={0: _SPECIAL}, nograd=(0,)),
            Sample(((3,),), low=-3, high=3, dtypes=("int32",)),
        ),
    ),
)  # fmt: skip
