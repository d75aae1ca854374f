"""Comparisons and logic of two arrays, or of an array and a number. The result has the dtype of the arrays: 1 or 0.

A number with a fraction is compared as it is, also with an integer array (MXNet 1.9.1 truncates it first, so that
`x < 0.5` asks `x < 0`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, numeric_dtype, scalar_dtype, wrapped
from autohybrid.tensor.opdef import OpDef, Sample, zero_gradient
from autohybrid.tensor.shapes import broadcast


@dataclass(frozen=True, slots=True)
class _Row:
    """One relation. `name` completes `broadcast_<name>`, `_<name>`, `_<name>_scalar`; `camel` the old spellings."""

    name: str
    camel: str
    function: str
    formula: str


_ROWS = (
    _Row("equal", "Equal", "equal", "x == y"),
    _Row("not_equal", "Not_Equal", "not_equal", "x != y"),
    _Row("greater", "Greater", "greater", "x > y"),
    _Row("greater_equal", "Greater_Equal", "greater_equal", "x >= y"),
    _Row("lesser", "Lesser", "less", "x < y"),
    _Row("lesser_equal", "Lesser_Equal", "less_equal", "x <= y"),
    _Row("logical_and", "Logical_And", "logical_and", "x and y (anything but 0 is true)"),
    _Row("logical_or", "Logical_Or", "logical_or", "x or y (anything but 0 is true)"),
    _Row("logical_xor", "Logical_Xor", "logical_xor", "exactly one of x and y (anything but 0 is true)"),
)


def _kernel(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
        return getattr(xp, function)(x, y).astype(x.dtype)

    return kernel


def _scalar_kernel(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        dtype = x.dtype
        number = attrs.scalar
        if dtype.kind != "f":
            dtype = x.dtype if attrs.is_int and dtype.kind != "b" else "int64" if attrs.is_int else "float64"
            if number.is_integer():
                number = wrapped(int(number), x.dtype) if x.dtype.kind != "b" else int(number)
            x = x if x.dtype.kind != "b" else x.astype("int64")
        return getattr(xp, function)(x, number).astype(dtype)

    return kernel


def _broadcast_record(row: _Row) -> OpDef:
    return OpDef(
        f"broadcast_{row.name}",
        _kernel(row.function),
        inputs=("lhs", "rhs"),
        infer_shape=broadcast,
        infer_dtype=numeric_dtype,
        grad=zero_gradient,
        doc=f"{row.formula}, for arrays that broadcast together: 1 where it holds, else 0, in the dtype of the arrays.",
        samples=(
            *(Sample(pair) for pair in (((1,), (1,)), ((2, 3), (1, 3)), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3)))),
            Sample(((2, 3), (3,)), low=0, high=3, dtypes=("int32", "int32")),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
        ),
    )


def _elementwise_record(row: _Row) -> OpDef:
    return OpDef(
        f"_{row.name}",
        _kernel(row.function),
        inputs=("lhs", "rhs"),
        infer_dtype=numeric_dtype,
        grad=zero_gradient,
        aliases=(f"_{row.camel}",),
        doc=f"{row.formula}, for arrays of one shape: 1 where it holds, else 0, in the dtype of the arrays.",
        samples=(
            *(Sample((shape, shape)) for shape in ((1,), (2, 3), (3, 1, 5), (0, 2))),
            Sample(((2, 3), (2, 3)), low=0, high=3, dtypes=("int32", "int32")),
            Sample(((2, 3), (1, 3)), error="MXNetError"),
        ),
    )


def _scalar_record(row: _Row) -> OpDef:
    return OpDef(
        f"_{row.name}_scalar",
        _scalar_kernel(row.function),
        attrs=SCALAR_ATTRS,
        infer_dtype=scalar_dtype,
        grad=zero_gradient,
        aliases=(f"_{row.camel.replace('_', '')}Scalar",),
        doc=f"{row.formula} with a number y: 1 where it holds, else 0, in the dtype of the array.",
        samples=(
            Sample(((1,),)),
            Sample(((2, 3),), {"scalar": 0.25}),
            Sample(((0, 3),), {"scalar": 2}),
            Sample(((5,),), {"scalar": 2}, low=0, high=4, dtypes=("int32",)),
            Sample(((5,),), {"scalar": 1.5}, low=0, high=4, dtypes=("int32",)),
            Sample(((2,),), {"scalar": "a"}, error="MXNetError"),
        ),
    )


def _not(xp: Any, attrs: Attrs, x: Any) -> Any:
    return xp.logical_not(x).astype(x.dtype)


_LOGICAL_NOT = OpDef(
    "logical_not",
    _not,
    infer_dtype=numeric_dtype,
    grad=zero_gradient,
    doc="1 where x is 0, else 0, in the dtype of x.",
    samples=(Sample(((1,),)), Sample(((2, 3),)), Sample(((0, 2),)), Sample(((5,),), low=0, high=3, dtypes=("int32",))),
)

OPERATORS: tuple[OpDef, ...] = (
    *map(_broadcast_record, _ROWS),
    *map(_elementwise_record, _ROWS),
    *map(_scalar_record, _ROWS),
    _LOGICAL_NOT,
)
