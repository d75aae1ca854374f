"""Operators that read only the shape of their input: shape_array, size_array, arange_like, index_array."""

from __future__ import annotations

from math import prod
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import OpDef, Sample, Shapes, zero_gradient
from autohybrid.tensor.shapes import fixed_dtype, normalize_axis, unify


def _infer_shape_array(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(outs[0], None if ins[0] is None else (len(ins[0]),))]


def _shape_array(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.asarray(data.shape, dtype="int64")


def _infer_size_array(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return ins, [unify(outs[0], (1,))]


def _size_array(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.asarray([data.size], dtype="int64")


def _infer_arange_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, outs
    if attrs.axis is None:
        return ins, [unify(source, outs[0])]
    return ins, [unify((source[normalize_axis(attrs.axis, len(source))],), outs[0])]


def _arange_like(xp: Any, attrs: Attrs, data: Any) -> Any:
    # With `repeat` the number of elements stays that of `data`, as in MXNet: the last number may occur less often.
    shape = data.shape if attrs.axis is None else (data.shape[attrs.axis],)
    counts = xp.arange(prod(shape)) // attrs.repeat
    if data.dtype.kind in "iub":  # MXNet computes in the dtype of `data`, so that a fractional step is cut to 0
        values = counts * int(attrs.step) + int(attrs.start)
    else:
        values = counts * attrs.step + attrs.start
    return values.astype(data.dtype).reshape(shape)


def _index_axes(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    if attrs.axes is None:
        return tuple(range(ndim))
    return tuple(normalize_axis(axis, ndim, "axes") for axis in attrs.axes)


def _infer_index_array(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, outs
    return ins, [unify((*source, len(_index_axes(attrs, len(source)))), outs[0])]


def _index_array(xp: Any, attrs: Attrs, data: Any) -> Any:
    axes = _index_axes(attrs, data.ndim)
    result = xp.empty((*data.shape, len(axes)), dtype="int64")
    for place, axis in enumerate(axes):
        counts = xp.arange(data.shape[axis])
        result[..., place] = counts.reshape((-1,) + (1,) * (data.ndim - axis - 1))
    return result


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "shape_array",
        _shape_array,
        infer_shape=_infer_shape_array,
        infer_dtype=fixed_dtype("int64"),
        grad=zero_gradient,
        aliases=("_npx_shape_array",),
        methods=("shape_array",),
        doc="The extents of `data` as an int64 array (ndim,).",
        samples=(Sample(((2, 3),)), Sample(((1,),)), Sample(((0, 4, 1),))),
    ),
    OpDef(
        "size_array",
        _size_array,
        infer_shape=_infer_size_array,
        infer_dtype=fixed_dtype("int64"),
        grad=zero_gradient,
        methods=("size_array",),
        doc="The number of elements of `data` as an int64 array (1,).",
        samples=(Sample(((2, 3),)), Sample(((1,),)), Sample(((0, 4),))),
    ),
    OpDef(
        "_contrib_arange_like",
        _arange_like,
        attrs=(
            Attr("start", "float", 0.0),
            Attr("step", "float", 1.0),
            Attr("repeat", "int", 1),
            Attr("ctx", "str", "", doc="not read: the result is where `data` is"),
            Attr("axis", "int?", None),
        ),
        infer_shape=_infer_arange_like,
        grad=zero_gradient,
        aliases=("_npx_arange_like",),
        doc="`start`, `start + step`, ... in the shape and dtype of `data`; with `axis` only as many as that axis has.",
        samples=(
            Sample(((2, 3),)),
            Sample(((2, 3),), {"axis": 1, "start": 2.0, "step": 0.5}),
            Sample(((3, 2),), {"axis": -1, "repeat": 2}),
            Sample(((0, 2),)),
            Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_index_array",
        _index_array,
        attrs=(Attr("axes", "shape?", None, doc="the axes whose index is given; all by default"),),
        infer_shape=_infer_index_array,
        infer_dtype=fixed_dtype("int64"),
        grad=zero_gradient,
        doc="For each element of `data` its index, as int64: shape (*data.shape, number of axes).",
        samples=(
            Sample(((2, 3),)),
            Sample(((2, 3, 4),), {"axes": (0, -1)}),
            Sample(((1,),)),
            Sample(((0, 2),)),
            Sample(((2, 3),), {"axes": (2,)}, error="MXNetError"),
        ),
    ),
)
