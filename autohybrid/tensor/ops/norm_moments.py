"""norm and moments: the lengths of vectors, the mean and the variance, along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.reduction import finish, infer_reduced, reduced_axes, reduced_shape

_OUT_DTYPES = ("float16", "float32", "float64", "int32", "int64", "int8")


def _norm(xp: Any, attrs: Attrs, x: Any) -> Any:
    axes = reduced_axes(attrs.axis, x.ndim)
    half = x.dtype.kind == "f" and x.dtype.itemsize == 2
    values = x.astype("float64") if x.dtype.kind != "f" else x.astype("float32") if half else x
    if attrs.ord == 1:
        result = xp.absolute(values).sum(axis=axes, keepdims=attrs.keepdims)
    else:
        result = xp.sqrt(xp.square(values).sum(axis=axes, keepdims=attrs.keepdims))
    return finish(result.astype(attrs.out_dtype or x.dtype, copy=False))


def _infer_norm(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.ord not in (1, 2):
        raise MXNetError(f"`ord` must be 1 or 2, not {attrs.ord}")
    return infer_reduced(attrs, ins, outs)


def _norm_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0] if attrs.out_dtype else ins[0] or outs[0]
    return [dtype], [attrs.out_dtype or dtype]


def _norm_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x, attrs = node.inputs[0], node.attrs
    axes = {"axis": attrs.axis, "keepdims": attrs.keepdims}
    head = F._spread(F._cast_as(heads[0], x), x, **axes)
    if attrs.ord == 1:
        return head * F.sign(x)
    length = F._spread(F._cast_as(node.outputs[0], x), x, **axes)
    # At the origin every direction is a subgradient; 0 is the one that keeps training finite.
    return head * (x / F.where(length, length, F.ones_like(length)))


def _moments(xp: Any, attrs: Attrs, x: Any) -> tuple[Any, Any]:
    axes = reduced_axes(attrs.axes, x.ndim)
    whole = x.dtype.kind != "f"
    values = x.astype("float64") if whole else x.astype("float32") if x.dtype.itemsize == 2 else x
    mean = values.mean(axis=axes, keepdims=True)
    if whole:
        mean = xp.trunc(mean)  # the variance is that around the mean as it is given
    deviation = values - mean
    variance = (deviation * deviation).mean(axis=axes, keepdims=attrs.keepdims)
    mean = mean if attrs.keepdims else mean.reshape(variance.shape)
    return finish(mean.astype(x.dtype, copy=False)), finish(variance.astype(x.dtype, copy=False))


def _infer_moments(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if not attrs.axes:
        raise MXNetError("`axes` must name the axes; for moments of the whole array give all of them")
    return ins, [reduced_shape(ins[0], attrs.axes, attrs.keepdims)] * 2


def _moments_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    x, attrs = node.inputs[0], node.attrs
    axes = {"axis": attrs.axes, "keepdims": attrs.keepdims}
    deviation = x - F._spread(F.mean(x, **axes), x, **axes)
    slope = F._mul_scalar(F._spread(heads[1], x, average=True, **axes) * deviation, scalar=2.0)
    return F._spread(heads[0], x, average=True, **axes) + slope


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "norm",
        _norm,
        attrs=(
            Attr("ord", "int", 2, doc="1: sum of absolute values, 2: root of the sum of squares"),
            Attr("axis", "shape?", None),
            Attr("out_dtype", "dtype?", None, _OUT_DTYPES),
            Attr("keepdims", "bool", False),
        ),
        infer_shape=_infer_norm,
        infer_dtype=_norm_dtype,
        grad=_norm_gradient,
        aliases=("_sparse_norm",),
        methods=("norm",),
        doc="The length of the vectors along `axis` (default: all axes, which leaves shape (1,)), for `ord` 1 or 2. "
        "The gradient of a zero vector is 0.",
        samples=(
            Sample(((2, 3, 4),), low=0.2),
            Sample(((1,),), low=0.2),
            Sample(((2, 3),), {"ord": 1}, low=0.2),
            Sample(((2, 3, 4),), {"axis": (0, -1)}),
            Sample(((2, 3, 5),), {"ord": 1, "axis": -1, "keepdims": True}, low=0.2),
            Sample(((2, 0, 3),), {"axis": 1}),
            Sample(((3, 4),), {"axis": 1, "out_dtype": "float64"}),
            Sample(((2, 3),), {"ord": 3}, error="MXNetError"),
            Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "moments",
        _moments,
        attrs=(Attr("axes", "shape?", None), Attr("keepdims", "bool", False)),
        outputs=("output0", "output1"),
        infer_shape=_infer_moments,
        grad=_moments_gradient,
        doc="The mean and the (population) variance along `axes`, which must be given.",
        samples=(
            Sample(((2, 3, 4),), {"axes": (0, 2)}),
            Sample(((3,),), {"axes": 0}),
            Sample(((2, 3, 5),), {"axes": -1, "keepdims": True}),
            Sample(((2, 0),), {"axes": 0}),
            Sample(((2, 3),), error="MXNetError"),
        ),
    ),
)
