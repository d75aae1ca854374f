"""Reductions of `mx.np` over `axis` (None: all axes, which leaves an array without axes): sums, products, extremes,
moments, logic, and the places of extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, Gradient, GradNode, OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.shapes import fixed_dtype, normalize_axis, unify

_AXIS = Attr("axis", "shape?", None, doc="an int or a tuple; all axes by default")
_KEEPDIMS = Attr("keepdims", "bool", False, doc="keep reduced axes with extent 1")
_DTYPE = Attr(
    "dtype", "dtype?", None, ("bool", "float16", "float32", "float64", "int32", "int64", "int8"),
    doc="the dtype of the result",
)  # fmt: skip
_INITIAL = Attr("initial", "float?", None, doc="a number that counts as a further element")
_DDOF = Attr("ddof", "int", 0, doc="what is taken off the number of elements that the sum is divided by")


# -- shapes and dtypes -------------------------------------------------------------------------------------------------
def reduced_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """The axes counted from the front, in order. Raises MXNetError for one out of range or named twice."""
    if axis is None:
        return tuple(range(ndim))
    axes = [normalize_axis(a, ndim) for a in ((axis,) if isinstance(axis, int) else axis)]
    if len(set(axes)) < len(axes):
        raise MXNetError(f"`axis` {axis} names an axis twice")
    return tuple(sorted(axes))


def infer_reduced(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """The shape without the reduced axes, or with extents of 1 in their place."""
    shape = ins[0]
    if shape is None:
        return ins, outs
    axes = reduced_axes(attrs.axis, len(shape))
    if attrs.keepdims:
        result = tuple(1 if i in axes else n for i, n in enumerate(shape))
    else:
        result = tuple(n for i, n in enumerate(shape) if i not in axes)
    return ins, [unify(result, outs[0]), *outs[1:]]


def _sum_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0]
    return ins, [attrs.dtype or ("int64" if dtype == "bool" else dtype)]


def _mean_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0]
    return ins, [attrs.dtype or (dtype if dtype is None or dtype.startswith("float") else "float32")]


def _moment_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[0] == "bool":
        raise MXNetError("dtype bool is not supported here; convert the array with `astype`")
    return ins, [attrs.dtype or ins[0], *outs[1:]]


def _no_bool(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    if ins[0] == "bool":
        raise MXNetError("dtype bool is not supported here; convert the array with `astype`")
    return ins, ["int64"]


# -- kernels -----------------------------------------------------------------------------------------------------------
def _wide(dtype: Any) -> Any:
    """The dtype in which numbers of `dtype` are added up."""
    return "float32" if dtype.kind == "f" and dtype.itemsize == 2 else "int64" if dtype.kind == "b" else dtype


def _total(function: str, neutral: float) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        dtype = attrs.dtype or ("int64" if x.dtype.kind == "b" else x.dtype)
        axes = reduced_axes(attrs.axis, x.ndim)
        wide = xp.dtype(dtype)
        result = getattr(x, function)(axis=axes, dtype=_wide(wide), keepdims=attrs.keepdims)
        if attrs.initial is not None:
            result = result + attrs.initial if function == "sum" else result * attrs.initial
        return xp.asarray(result).astype(wide, copy=False)

    return kernel


def _mean(xp: Any, attrs: Attrs, x: Any) -> Any:
    dtype = xp.dtype(attrs.dtype or (x.dtype if x.dtype.kind == "f" else "float32"))
    axes = reduced_axes(attrs.axis, x.ndim)
    count = math.prod(x.shape[a] for a in axes)
    total = x.sum(axis=axes, dtype=_wide(dtype) if dtype.kind == "f" else "float64", keepdims=attrs.keepdims)
    return xp.asarray(xp.true_divide(total, count)).astype(dtype, copy=False)


def _extreme(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        result = getattr(x, function)(axis=reduced_axes(attrs.axis, x.ndim), keepdims=attrs.keepdims)
        if attrs.initial is not None:
            result = getattr(xp, "maximum" if function == "max" else "minimum")(result, attrs.initial)
        return xp.asarray(result).astype(x.dtype, copy=False)

    return kernel


def _moments(root: bool) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        dtype = xp.dtype(attrs.dtype or x.dtype)
        axes = reduced_axes(attrs.axis, x.ndim)
        wide = x.astype("float64" if x.dtype.kind != "f" else _wide(x.dtype), copy=False)
        mean = wide.mean(axis=axes, keepdims=True)
        count = math.prod(x.shape[a] for a in axes)
        squares = xp.square(wide - mean).sum(axis=axes, keepdims=attrs.keepdims)
        variance = xp.true_divide(squares, count - attrs.ddof)
        return xp.asarray(xp.sqrt(variance) if root else variance).astype(dtype, copy=False)

    return kernel


def _logic(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        reduce = getattr(xp, function)
        return xp.asarray(
            reduce(x.astype(bool, copy=False), axis=reduced_axes(attrs.axis, x.ndim), keepdims=attrs.keepdims)
        )

    return kernel


def _place(function: str) -> Callable[..., Any]:
    def kernel(xp: Any, attrs: Attrs, x: Any) -> Any:
        if attrs.axis is None:
            place = getattr(x.reshape(-1), function)()
            return xp.asarray(place, dtype="int64").reshape((1,) * x.ndim if attrs.keepdims else ())
        axis = normalize_axis(attrs.axis, x.ndim)
        place = xp.asarray(getattr(x, function)(axis=axis)).astype("int64", copy=False)
        return xp.expand_dims(place, axis) if attrs.keepdims else place

    return kernel


def _infer_place(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = ins[0]
    if shape is not None and attrs.axis is None and 0 in shape:
        raise MXNetError(f"an array without elements, of shape {shape}, has no extreme")
    return infer_reduced(attrs, ins, outs)


# -- gradients ---------------------------------------------------------------------------------------------------------
def spread(F: Any, node: GradNode, reduced: Any, average: bool = False) -> Any:
    """`reduced`, of the shape of the output, repeated over the reduced axes, in the dtype of the input."""
    x = node.inputs[0]
    if reduced.dtype != x.dtype:
        reduced = F._cast_as(reduced, x)
    return F._spread_axes(reduced, x, axis=node.attrs.axis, average=average)


def _sum_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return spread(F, node, heads[0])


def _mean_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return spread(F, node, heads[0], average=True)


def _prod_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x, axis = node.inputs[0], node.attrs.axis
    scale = 1.0 if node.attrs.initial is None else node.attrs.initial
    if x.ndim == 0:
        return F._mul_scalar(heads[0], scalar=scale)
    return F._mul_scalar(spread(F, node, heads[0]) * F._prod_others(x, axis=axis), scalar=scale)


def _extreme_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    # Every element that equals the extreme gets the whole gradient, as in MXNet.
    x = node.inputs[0]
    return spread(F, node, heads[0]) * F._cast_as(F._npi_equal(x, spread(F, node, node.outputs[0])), x)


def _deviations(F: Any, node: GradNode) -> tuple[Any, float]:
    """The elements minus their mean, and the number that the sum of squares is divided by."""
    x = node.inputs[0]
    axes = reduced_axes(node.attrs.axis, x.ndim)
    count = math.prod(x.shape[a] for a in axes)
    mean = F._npi_mean(x, axis=node.attrs.axis, keepdims=True)
    return F._npi_subtract(x, mean), float(count - node.attrs.ddof)


def _var_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    deviations, count = _deviations(F, node)
    return F._mul_scalar(
        F._npi_multiply(spread(F, node, heads[0]), deviations), scalar=2 / count if count else math.inf
    )


def _std_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    deviations, count = _deviations(F, node)
    head = F._npi_true_divide(heads[0], node.outputs[0])
    return F._mul_scalar(F._npi_multiply(spread(F, node, head), deviations), scalar=1 / count if count else math.inf)


def _spread_kernel(xp: Any, attrs: Attrs, reduced: Any, like: Any) -> Any:
    axes = reduced_axes(attrs.axis, like.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(like.shape))
    if attrs.average:
        reduced = xp.asarray(reduced / max(1, math.prod(like.shape[a] for a in axes))).astype(reduced.dtype, copy=False)
    return xp.broadcast_to(reduced.reshape(kept), like.shape)


def _infer_spread(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    like = unify(ins[1], outs[0])
    return [ins[0], like], [like]


def _spread_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    reduce = F._npi_mean if node.attrs.average else F._np_sum
    result = reduce(heads[0], axis=node.attrs.axis, keepdims=True)
    return [F.reshape_like(result, node.inputs[0]), None]


# -- records -----------------------------------------------------------------------------------------------------------
def _samples(low: float = -1.0, high: float = 1.0, dtype: bool = False) -> tuple[Sample, ...]:
    return (
        Sample(((2, 3, 4),), low=low, high=high),
        Sample(((2, 3, 4),), {"axis": 1}, low=low, high=high),
        Sample(((2, 3, 4),), {"axis": (0, -1), "keepdims": True}, low=low, high=high),
        Sample(((),), low=low, high=high),
        Sample(((3, 4),), {"axis": 0}, low=1, high=5, dtypes=("int32",)),
        *((Sample(((2, 3),), {"axis": 1, "dtype": "float64"}, low=low, high=high, nograd=(0,)),) if dtype else ()),
        Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
    )


def _record(
    name: str,
    kernel: Callable[..., Any],
    gradient: Gradient,
    doc: str,
    *,
    attrs: tuple[Attr, ...],
    infer_dtype: Any,
    samples: tuple[Sample, ...],
    alias: str = "",
    output: str = "output",
    inputs: tuple[str, ...] = ("a",),
) -> OpDef:
    return OpDef(
        name, kernel, inputs=inputs, attrs=attrs, outputs=(output,), infer_shape=infer_reduced,
        infer_dtype=infer_dtype, grad=gradient, aliases=(alias,) if alias else (), samples=samples,
        doc=f"{doc} over `axis`, an int or a tuple; over all axes by default.",
    )  # fmt: skip


_SUMMED = (_AXIS, _DTYPE, _KEEPDIMS, _INITIAL)
_EMPTY = (Sample(((0, 3),), {"axis": 0}),)


def _moment(name: str, root: bool, gradient: Gradient, doc: str) -> OpDef:
    return _record(
        f"_npi_{name}", _moments(root), gradient, doc, attrs=(_AXIS, _DTYPE, _DDOF, _KEEPDIMS),
        infer_dtype=_moment_dtype, output=name,
        samples=(*(s for s in _samples() if s.shapes != ((),)), Sample(((2, 3),), {"axis": 1, "ddof": 1})),
    )  # fmt: skip


def _place_record(name: str, doc: str) -> OpDef:
    return OpDef(
        f"_npi_{name}", _place(name),
        attrs=(Attr("axis", "int?", None, doc="all axes, flattened, by default"), _KEEPDIMS),
        infer_shape=_infer_place, infer_dtype=_no_bool, grad=zero_gradient,
        doc=f"The place (int64) of the {doc} element along `axis`; the first of equal ones.",
        samples=(
            Sample(((3, 4),)), Sample(((3, 4),), {"axis": 1}), Sample(((3, 4),), {"axis": -2, "keepdims": True}),
            Sample(((),)), Sample(((5,),), low=0, high=9, dtypes=("int32",)),
            Sample(((3, 4),), {"axis": 2}, error="MXNetError"),
        ),
    )  # fmt: skip


def _logic_record(name: str, doc: str, alias: str = "") -> OpDef:
    return OpDef(
        f"_np_{name}", _logic(name), attrs=(_AXIS, _KEEPDIMS), infer_shape=infer_reduced,
        infer_dtype=fixed_dtype("bool"), grad=zero_gradient, aliases=(alias,) if alias else (),
        doc=f"Whether {doc} element along `axis` is not 0.",
        samples=(
            Sample(((3, 4),), low=0, high=2), Sample(((3, 4),), {"axis": 1}, low=0, high=2, dtypes=("int32",)),
            Sample(((3, 4),), {"axis": 0, "keepdims": True}, low=0, high=2, dtypes=("bool",)), Sample(((),)),
            Sample(((0, 2),)),
        ),
    )  # fmt: skip


def _same(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0] or outs[0]
    return [dtype], [dtype]


def _like_of_spread(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    return ins, [ins[0]]


_EXTREME = (_AXIS, _KEEPDIMS, _INITIAL)
OPERATORS: tuple[OpDef, ...] = (
    _record("_np_sum", _total("sum", 0), _sum_gradient, "The sum", attrs=_SUMMED, infer_dtype=_sum_dtype,
            samples=(*_samples(dtype=True), *_EMPTY, Sample(((2, 3),), {"initial": 2.0}))),
    _record("_np_prod", _total("prod", 1), _prod_gradient, "The product", attrs=_SUMMED, infer_dtype=_sum_dtype,
            samples=(*_samples(dtype=True), *_EMPTY, Sample(((2, 3),), {"initial": 2.0})), alias="_np_product"),
    _record("_npi_mean", _mean, _mean_gradient, "The mean", attrs=_SUMMED, infer_dtype=_mean_dtype,
            samples=(*_samples(dtype=True), *_EMPTY)),
    _record("_np_max", _extreme("max"), _extreme_gradient, "The largest element", attrs=_EXTREME, infer_dtype=_same,
            samples=_samples(), alias="_np_amax"),
    _record("_np_min", _extreme("min"), _extreme_gradient, "The smallest element", attrs=_EXTREME, infer_dtype=_same,
            samples=_samples(), alias="_np_amin"),
    _moment("std", True, _std_gradient, "The standard deviation"),
    _moment("var", False, _var_gradient, "The variance"),
    _logic_record("all", "every"),
    _logic_record("any", "some", "_np_sometrue"),
    _place_record("argmax", "largest"),
    _place_record("argmin", "smallest"),
    OpDef(
        "_spread_axes", _spread_kernel, inputs=("data", "like"), attrs=(_AXIS, Attr("average", "bool", False)),
        infer_shape=_infer_spread, infer_dtype=_like_of_spread, grad=_spread_gradient, view=True,
        doc="`data`, a reduction of an array shaped as `like`, repeated to the shape of `like`; with `average` divided "
        "by the number of repetitions. The gradient of sum and mean in numpy mode.",
        samples=(
            Sample(((), (2, 3)), nograd=(1,)), Sample(((2,), (2, 3)), {"axis": -1, "average": True}, nograd=(1,)),
            Sample(((2, 1), (2, 3)), {"axis": 1}, nograd=(1,)),
        ),
    ),
)  # fmt: skip
