"""Arithmetic of two arrays: `broadcast_*` (NumPy's broadcasting, ranks may differ) and `elemwise_*`, `_plus`...
(equal shapes), from one table, and the two private operators that their gradients need.

Integers stay integers: division truncates towards zero, a remainder by zero is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.elementwise import divide, is_floating, numeric_dtype
from autohybrid.tensor.opdef import Gradient, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import broadcast, same_dtype, unify
from autohybrid.tensor.templates import ufunc

Slope = Callable[[Any, Any, Any, Any, Any], Any]


@dataclass(frozen=True, slots=True)
class _Row:
    """One function of two arrays. `by_x(F, head, x, y, out)` gives the head times the derivative by x."""

    broadcast: str
    broadcast_aliases: tuple[str, ...]
    elementwise: str
    elementwise_aliases: tuple[str, ...]
    kernel: Callable[..., Any]
    by_x: Slope
    by_y: Slope
    formula: str
    low: float = -1.0
    high: float = 1.0


# -- kernels ---------------------------------------------------------------------------------------------------------
def _add(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.add(x, y)


def _sub(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.subtract(x, y)


def _mul(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.multiply(x, y)


def _div(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return divide(xp, x, y)


def _mod(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    remainder = xp.remainder(x, y)
    return xp.where(y == 0, xp.zeros_like(remainder), remainder)


def _power(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return xp.power(x, y)
    return xp.power(x.astype("float64"), y).astype(x.dtype)


def _maximum(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.maximum(x, y)


def _minimum(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.minimum(x, y)


def _hypot(xp: Any, attrs: Attrs, x: Any, y: Any) -> Any:
    return xp.hypot(x, y).astype(x.dtype, copy=False)


# -- gradients: the head times the partial derivative by x, and by y -------------------------------------------------
def _pass(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h


def _pass_negative(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.negative(h)


def _mul_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_mul(h, y)


def _mul_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_mul(h, x)


def _div_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_div(h, y)


def _div_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.negative(F.broadcast_div(h * out, y))


def _mod_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h if is_floating(x) else F.zeros_like(h)


def _mod_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    if not is_floating(x):
        return F.zeros_like(h)
    return F.negative(h * F.floor(F.broadcast_div(x, y)))


def _power_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h * F.broadcast_mul(y, F.broadcast_power(x, F._minus_scalar(y, scalar=1.0)))


def _power_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_mul(h * out, F.log(x))


def _maximum_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h * F.broadcast_greater_equal(x, y)


def _maximum_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h * F.broadcast_lesser(x, y)


def _minimum_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h * F.broadcast_lesser_equal(x, y)


def _minimum_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return h * F.broadcast_greater(x, y)


def _hypot_by_x(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_mul(h / out, x)


def _hypot_by_y(F: Any, h: Any, x: Any, y: Any, out: Any) -> Any:
    return F.broadcast_mul(h / out, y)


def _broadcast_gradient(row: _Row) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        x, y = node.inputs
        slopes = zip((row.by_x, row.by_y), (x, y))
        return [
            F._unbroadcast(slope(F, heads[0], x, y, node.outputs[0]), like) if node.needs(k) else None
            for k, (slope, like) in enumerate(slopes)
        ]

    return gradient


def _elementwise_gradient(row: _Row) -> Gradient:
    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        x, y = node.inputs
        return [
            slope(F, heads[0], x, y, node.outputs[0]) if node.needs(k) else None
            for k, slope in enumerate((row.by_x, row.by_y))
        ]

    return gradient


# -- the two operators behind the gradients --------------------------------------------------------------------------
def _sum_to(xp: Any, attrs: Attrs, data: Any, like: Any) -> Any:
    shape, given = like.shape, data.shape
    if given == shape:
        return data
    lead = len(given) - len(shape)
    axes = (*range(lead), *[lead + i for i, n in enumerate(shape) if n == 1 and given[lead + i] != 1])
    half = data.dtype.kind == "f" and data.dtype.itemsize == 2
    total = data.sum(axis=axes, dtype="float32" if half else data.dtype)
    return total.astype(data.dtype, copy=False).reshape(shape)


def _as_like(xp: Any, attrs: Attrs, data: Any, like: Any) -> Any:
    return xp.broadcast_to(data, like.shape)


def _like_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    like = unify(ins[1], outs[0])
    return [ins[0], like], [like]


def _sum_to_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._broadcast_as(heads[0], node.inputs[0]), None]


def _as_like_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._unbroadcast(heads[0], node.inputs[0]), None]


_UNBROADCAST = OpDef(
    "_unbroadcast",
    _sum_to,
    inputs=("data", "like"),
    infer_shape=_like_shape,
    infer_dtype=same_dtype,
    grad=_sum_to_gradient,
    view=True,
    doc="`data`, the shape of `like` broadcast, summed back to the shape of `like`: the gradient of a broadcast.",
    samples=(
        Sample(((2, 3), (2, 3)), nograd=(1,)),
        Sample(((2, 3), (1, 3)), nograd=(1,)),
        Sample(((2, 3, 4), (3, 1)), nograd=(1,)),
        Sample(((0, 3), (1, 3)), nograd=(1,)),
    ),
)
_BROADCAST_AS = OpDef(
    "_broadcast_as",
    _as_like,
    inputs=("data", "like"),
    infer_shape=_like_shape,
    infer_dtype=same_dtype,
    grad=_as_like_gradient,
    view=True,
    doc="`data` repeated to the shape of `like` by NumPy's broadcasting; the ranks may differ.",
    samples=(
        Sample(((1, 3), (2, 3)), nograd=(1,)),
        Sample(((3,), (2, 3)), nograd=(1,)),
        Sample(((1,), (0, 2)), nograd=(1,)),
    ),
)

# -- the table -------------------------------------------------------------------------------------------------------
_ROWS = (
    _Row("broadcast_add", ("_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"),
         "elemwise_add", ("_Plus", "_add", "_plus", "_sparse_elemwise_add"), _add, _pass, _pass, "x + y"),
    _Row("broadcast_sub", ("_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"),
         "elemwise_sub", ("_Minus", "_minus", "_sparse_elemwise_sub", "_sub"), _sub, _pass, _pass_negative, "x - y"),
    _Row("broadcast_mul", ("_sparse_broadcast_mul",),
         "elemwise_mul", ("_Mul", "_mul", "_sparse_elemwise_mul"), _mul, _mul_by_x, _mul_by_y, "x * y"),
    _Row("broadcast_div", ("_sparse_broadcast_div",),
         "elemwise_div", ("_Div", "_div", "_sparse_elemwise_div"), _div, _div_by_x, _div_by_y, "x / y", 0.5, 2.0),
    _Row("broadcast_mod", (), "_mod", ("_Mod",), _mod, _mod_by_x, _mod_by_y,
         "the remainder of x / y with the sign of y (0 where y is 0)", 0.5, 2.0),
    _Row("broadcast_power", (), "_power", ("_Power",), _power, _power_by_x, _power_by_y, "x to the power y", 0.5, 2.0),
    _Row("broadcast_maximum", ("_npi_maximum",), "_maximum", ("_Maximum",), _maximum, _maximum_by_x, _maximum_by_y,
         "the larger of x and y; at a tie the gradient goes to x"),
    _Row("broadcast_minimum", ("_npi_minimum",), "_minimum", ("_Minimum",), _minimum, _minimum_by_x, _minimum_by_y,
         "the smaller of x and y; at a tie the gradient goes to x"),
    _Row("broadcast_hypot", (), "_hypot", ("_Hypot",), _hypot, _hypot_by_x, _hypot_by_y, "sqrt(x*x + y*y)", 0.5, 2.0),
)  # fmt: skip

#: The ufuncs that compute a row on floating-point arrays; the others are more than one.
_UFUNCS = {
    "broadcast_add": "add",
    "broadcast_sub": "subtract",
    "broadcast_mul": "multiply",
    "broadcast_div": "true_divide",
    "broadcast_power": "power",
    "broadcast_maximum": "maximum",
    "broadcast_minimum": "minimum",
    "broadcast_hypot": "hypot",
}
_TEMPLATES = {name: ufunc(function) for name, function in _UFUNCS.items()}


def _broadcast_record(row: _Row) -> OpDef:
    low, high = row.low, row.high
    shapes = (((1,), (1,)), ((2, 3), (1, 3)), ((2, 1, 3), (4, 1)), ((3, 5), (5,)), ((0, 3), (1, 3)))
    return OpDef(
        row.broadcast,
        row.kernel,
        inputs=("lhs", "rhs"),
        infer_shape=broadcast,
        infer_dtype=numeric_dtype,
        grad=_broadcast_gradient(row),
        aliases=row.broadcast_aliases,
        fast=_TEMPLATES.get(row.broadcast),
        doc=f"{row.formula}, for arrays x and y that broadcast together; their dtypes must agree.",
        samples=(
            *(Sample(pair, low=low, high=high) for pair in shapes),
            Sample(((2, 3), (2, 3)), low=1, high=5, dtypes=("int32", "int32")),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
            Sample(((2, 3), (2, 3)), dtypes=("float32", "float64"), error="MXNetError"),
        ),
    )


def _elementwise_record(row: _Row) -> OpDef:
    low, high = row.low, row.high
    return OpDef(
        row.elementwise,
        row.kernel,
        inputs=("lhs", "rhs"),
        infer_dtype=numeric_dtype,
        grad=_elementwise_gradient(row),
        aliases=row.elementwise_aliases,
        fast=_TEMPLATES.get(row.broadcast),
        doc=f"{row.formula}, for arrays x and y of one shape and dtype (no broadcasting).",
        samples=(
            *(Sample((shape, shape), low=low, high=high) for shape in ((1,), (2, 3), (3, 1, 5), (0, 2))),
            Sample(((2, 3), (2, 3)), low=1, high=5, dtypes=("int32", "int32")),
            Sample(((2, 3), (1, 3)), error="MXNetError"),
        ),
    )


OPERATORS: tuple[OpDef, ...] = (
    *map(_broadcast_record, _ROWS),
    *map(_elementwise_record, _ROWS),
    _UNBROADCAST,
    _BROADCAST_AS,
)
