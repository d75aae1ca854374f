"""Arithmetic of `mx.np`: two arrays that broadcast together, with numpy-like promotion of dtypes, or an array and a
number.

The rules are MXNet 1.9.1's: a floating dtype wins over integers and a wider one over a narrower; integers of two
widths meet in the wider for `+ * **` and are refused by `- / %`; `/` of integers gives float32. Beside an integer array
a number is truncated, unless the call says `is_int=False`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import SCALAR_ATTRS, scalar_dtype, wrapped
from autohybrid.tensor.opdef import Dtypes, Gradient, GradNode, OpDef, Sample
from autohybrid.tensor.shapes import broadcast
from autohybrid.tensor.templates import Template, ufunc

Slope = Callable[[Any, Any, Any, Any, Any], Any]

_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("bool", "uint8", "int8", "int32", "int64")


# -- dtypes ------------------------------------------------------------------------------------------------------------
def promoted(x: str, y: str, integers: bool) -> str:
    """The dtype in which arrays of these dtypes meet. `integers`: whether two integer dtypes may differ.

    Raises MXNetError for a pair that MXNet 1.9.1 refuses.
    """
    if x == y:
        return x
    if x in _FLOATS or y in _FLOATS:
        return max((d for d in (x, y) if d in _FLOATS), key=_FLOATS.index)
    if not integers or {x, y} == {"uint8", "int8"}:
        raise MXNetError(f"the dtypes {x} and {y} are not promoted here; convert one with `astype`")
    return max(x, y, key=_INTEGERS.index)


def _joined(integers: bool) -> Callable[..., Any]:
    def infer(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
        x, y = ins
        if x is None or y is None:
            # What is known serves for what is not, as long as nothing speaks against it.
            known = x or y or outs[0]
            return [x or known, y or known], [known]
        if not integers and x == y == "bool":
            raise MXNetError("dtype bool is not supported here; convert the arrays with `astype`")
        return ins, [promoted(x, y, integers)]

    return infer


def _quotient_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    x, y = ins
    if x is None or y is None:
        known = x or y
        return [x or known, y or known], [known if known is None or known in _FLOATS else "float32"]
    if x != y and (x in _FLOATS) == (y in _FLOATS):
        raise MXNetError(f"the dtypes {x} and {y} are not promoted by a division; convert one with `astype`")
    return ins, [x if x in _FLOATS else y if y in _FLOATS else "float32"]


def same_numeric(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """One dtype for both arrays, which is not bool. Raises MXNetError."""
    x, y = ins
    known = x or y or outs[0]
    if x is not None and y is not None and x != y:
        raise MXNetError(f"the dtypes {x} and {y} differ, and are not promoted here; convert one with `astype`")
    if known == "bool":
        raise MXNetError("dtype bool is not supported here; convert the arrays with `astype`")
    return [known, known], [known]


def same_floating_pair(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    """One floating dtype for both arrays. Raises MXNetError."""
    ins, outs = same_numeric(attrs, ins, outs)
    if ins[0] is not None and ins[0] not in _FLOATS:
        raise MXNetError(f"only floating dtypes are supported, got {ins[0]}; convert with `astype('float32')`")
    return ins, outs


def _scalar_quotient_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0]
    return ins, [dtype if dtype is None or dtype in _FLOATS else "float32"]


# -- kernels -----------------------------------------------------------------------------------------------------------
def _as_one(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Both arrays in the dtype in which they meet."""
    if x.dtype == y.dtype:
        return x, y
    dtype = promoted(x.dtype.name, y.dtype.name, True)
    return x.astype(dtype, copy=False), y.astype(dtype, copy=False)


def _plain(function: str) -> Callable[..., Any]:
    def compute(xp: Any, x: Any, y: Any) -> Any:
        return getattr(xp, function)(x, y)

    return compute


def _true_divide(xp: Any, x: Any, y: Any) -> Any:
    arrays = [v for v in (x, y) if hasattr(v, "dtype")]
    floats = [v.dtype for v in arrays if v.dtype.kind == "f"]
    dtype = floats[0] if floats else "float32"
    x, y = (v.astype(dtype, copy=False) if hasattr(v, "dtype") else v for v in (x, y))
    return xp.true_divide(x, y)


def _mod(xp: Any, x: Any, y: Any) -> Any:
    remainder = xp.remainder(x, y)
    return xp.where(xp.equal(y, 0), xp.zeros_like(remainder), remainder)


def _power(xp: Any, x: Any, y: Any) -> Any:
    array = x if hasattr(x, "dtype") else y
    if array.dtype.kind == "f":
        return xp.power(x, y)
    x, y = (v.astype("float64") if hasattr(v, "dtype") else float(v) for v in (x, y))
    return xp.asarray(xp.power(x, y)).astype(array.dtype)


def _ldexp(xp: Any, x: Any, y: Any) -> Any:
    array = x if hasattr(x, "dtype") else y
    if array.dtype.kind == "f":
        return x * xp.power(xp.asarray(2.0, dtype=array.dtype), y)
    x, y = (v.astype("float64") if hasattr(v, "dtype") else float(v) for v in (x, y))
    return xp.asarray(x * xp.power(2.0, y)).astype(array.dtype)


# -- gradients: the head times the partial derivative by x, and by y ---------------------------------------------------
def _log2_scaled(F: Any, value: Any) -> Any:
    return F._mul_scalar(value, scalar=0.6931471805599453)


@dataclass(frozen=True, slots=True)
class _Row:
    """One function of two operands, in order of its arrays or numbers. `by_x(F, head, x, y, out)` and `by_y` give the
    head times the derivative; `reflected` names the operator with the number on the left."""

    name: str
    compute: Callable[[Any, Any, Any], Any]
    by_x: Slope
    by_y: Slope
    formula: str
    infer: Callable[..., Any]
    reflected: str = ""
    scalar_infer: Callable[..., Any] = scalar_dtype
    low: float = -1.0
    high: float = 1.0
    fast: Template | None = None
    differentiable_with_numbers: bool = True

    @property
    def promotes(self) -> bool:
        """Whether the two arrays may differ in dtype."""
        return self.infer not in (same_floating_pair, same_numeric)


def _sign_of_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    # |out| is |x|, so out / x is the sign that was given; at x = 0 the derivative is taken as 0.
    return h * F._npi_multiply(F._npi_sign(out), F._npi_sign(x))


_ROWS = (
    _Row("add", _plain("add"), lambda F, h, x, y, o: h, lambda F, h, x, y, o: h, "x + y", _joined(True),
         fast=ufunc("add")),
    _Row("subtract", _plain("subtract"), lambda F, h, x, y, o: h, lambda F, h, x, y, o: F._npi_negative(h), "x - y",
         _joined(False), "rsubtract", fast=ufunc("subtract")),
    _Row("multiply", _plain("multiply"), lambda F, h, x, y, o: F._npi_multiply(h, y),
         lambda F, h, x, y, o: F._npi_multiply(h, x), "x * y", _joined(True), fast=ufunc("multiply")),
    _Row("true_divide", _true_divide, lambda F, h, x, y, o: F._npi_true_divide(h, y),
         lambda F, h, x, y, o: F._npi_negative(F._npi_true_divide(F._npi_multiply(h, o), y)), "x / y",
         _quotient_dtype, "rtrue_divide", _scalar_quotient_dtype, 0.5, 2.0, fast=ufunc("true_divide")),
    _Row("mod", _mod, lambda F, h, x, y, o: h,
         lambda F, h, x, y, o: F._npi_negative(F._npi_multiply(h, F._npi_floor(F._npi_true_divide(x, y)))),
         "the remainder of x / y with the sign of y (0 where y is 0)", _joined(False), "rmod", low=0.5, high=2.0),
    _Row("power", _power,
         lambda F, h, x, y, o: F._npi_multiply(
             h, F._npi_multiply(y, F._npi_power(x, F._npi_subtract_scalar(y, scalar=1.0)))),
         lambda F, h, x, y, o: F._npi_multiply(F._npi_multiply(h, o), F._npi_log(x)), "x to the power y", _joined(True),
         "rpower", low=0.5, high=2.0),
    _Row("arctan2", _plain("arctan2"),
         lambda F, h, x, y, o: F._npi_true_divide(
             F._npi_multiply(h, y), F._npi_add(F._npi_square(x), F._npi_square(y))),
         lambda F, h, x, y, o: F._npi_negative(F._npi_true_divide(
             F._npi_multiply(h, x), F._npi_add(F._npi_square(x), F._npi_square(y)))),
         "the angle of the point (y, x) in radians", same_floating_pair, "rarctan2", low=0.5, high=2.0),
    _Row("hypot", _plain("hypot"), lambda F, h, x, y, o: F._npi_multiply(h, F._npi_true_divide(x, o)),
         lambda F, h, x, y, o: F._npi_multiply(h, F._npi_true_divide(y, o)), "sqrt(x*x + y*y)", same_floating_pair,
         low=0.5, high=2.0),
    _Row("copysign", _plain("copysign"), _sign_of_y, lambda F, h, x, y, o: F.zeros_like(h),
         "the magnitude of x with the sign of y", same_numeric, "rcopysign", low=0.5, high=2.0,
         differentiable_with_numbers=False),
    _Row("ldexp", _ldexp, lambda F, h, x, y, o: F._npi_multiply(h, F._npi_rpower_scalar(y, scalar=2.0)),
         lambda F, h, x, y, o: _log2_scaled(F, F._npi_multiply(h, o)), "x times 2 to the power y", same_numeric,
         "rldexp", low=0.5, high=2.0),
)  # fmt: skip


def _back(F: Any, slope: Any, like: Any) -> Any:
    """A gradient in the shape and dtype of the input that it belongs to."""
    return F._unbroadcast(F._cast_as(slope, like) if slope.dtype != like.dtype else slope, like)


def _pair_gradient(row: _Row) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        x, y = node.inputs
        return [
            _back(F, slope(F, heads[0], x, y, node.outputs[0]), like) if node.needs(k) else None
            for k, (slope, like) in enumerate(((row.by_x, x), (row.by_y, y)))
        ]

    return gradient


def _number_gradient(row: _Row, reflected: bool) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        x = node.inputs[0]
        number = F._plus_scalar(F.zeros_like(x), scalar=node.attrs.scalar)
        if reflected:
            return _back(F, row.by_y(F, heads[0], number, x, node.outputs[0]), x)
        return _back(F, row.by_x(F, heads[0], x, number, node.outputs[0]), x)

    return gradient


_SHAPES = (((2, 3), (2, 3)), ((2, 1), (1, 3)), ((), (2,)), ((3,), (2, 3)))


def _pair(row: _Row) -> OpDef:
    def kernel(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
        if row.compute is _true_divide:
            return xp.asarray(_true_divide(xp, x, y))
        x, y = _as_one(xp, x, y)
        return xp.asarray(row.compute(xp, x, y)).astype(x.dtype, copy=False)

    low, high = row.low, row.high
    floating = row.infer is same_floating_pair
    return OpDef(
        f"_npi_{row.name}",
        kernel,
        inputs=("x1", "x2") if floating else ("lhs", "rhs"),
        infer_shape=broadcast,
        infer_dtype=row.infer,
        grad=_pair_gradient(row),
        fast=row.fast,
        doc=f"{row.formula}, for arrays x and y that broadcast together.",
        samples=(
            *(Sample(pair, low=low, high=high) for pair in _SHAPES),
            Sample(((0, 3), (1, 3)), low=low, high=high),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
            *(() if floating else (Sample(((2, 3), (3,)), low=1, high=5, dtypes=("int32", "int32")),)),
            *((Sample(((2, 3), (3,)), low=1, high=2, dtypes=("float32", "int32")),) if row.promotes else ()),
        ),
    )  # fmt: skip


def _with_number(row: _Row, reflected: bool) -> OpDef:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        x, number = _operand(x, attrs, row.compute is _true_divide)
        result = xp.asarray(row.compute(xp, number, x) if reflected else row.compute(xp, x, number))
        return result if row.compute is _true_divide else result.astype(x.dtype, copy=False)

    name = row.reflected if reflected else row.name
    formula = row.formula
    return OpDef(
        f"_npi_{name}_scalar",
        kernel,
        attrs=SCALAR_ATTRS,
        infer_dtype=row.scalar_infer,
        grad=_number_gradient(row, reflected) if row.differentiable_with_numbers else None,
        doc=f"{formula}, where {'x' if reflected else 'y'} is a number.",
        samples=(
            Sample(((2, 3),), {"scalar": 2.5}, low=0.5, high=2),
            Sample(((),), {"scalar": 0.75}, low=0.5, high=2),
            Sample(((0, 2),), {"scalar": 3}, low=0.5, high=2),
            Sample(((4,),), {"scalar": 2}, low=1, high=6, dtypes=("int32",)),
            Sample(((4,),), {"scalar": 1.5, "is_int": False}, low=1, high=6, dtypes=("int32",)),
            Sample(((2,),), {"scalar": "a"}, error="MXNetError"),
        ),
    )


def _operand(x: Any, attrs: Attrs, divides: bool) -> tuple[Any, Any]:
    """The array and the number in the dtype of the computation."""
    kind = x.dtype.kind
    if kind == "f":
        return x, attrs.scalar
    if divides:
        return x.astype("float32"), attrs.scalar
    if not attrs.is_int:
        return x.astype("float64"), attrs.scalar
    x = x.astype("int64") if kind == "b" else x
    return x, wrapped(int(attrs.scalar), x.dtype)


OPERATORS: tuple[OpDef, ...] = (
    *map(_pair, _ROWS),
    *(_with_number(row, False) for row in _ROWS if row.name != "hypot"),
    *(_with_number(row, True) for row in _ROWS if row.reflected),
)
