"""Operators that take ranges of axes: slice, slice_axis, slice_like, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import first_dtype, normalize_axis, unify
from autohybrid.tensor.slicing import slice_key, sliced_shape

RANGE = (
    Attr("begin", "ints", doc="first index of each leading axis; None: from the edge"),
    Attr("end", "ints", doc="index behind the last; None: to the edge"),
    Attr("step", "ints", (), doc="strides, 1 by default; may be negative"),
)


def infer_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    """A gradient operator `(head, data)` whose output has the shape of its second input."""
    shape = unify(ins[1], outs[0])
    return [ins[0], shape, *ins[2:]], [shape]


def _ranges(attrs: Attrs) -> dict[str, Any]:
    return {"begin": attrs.begin, "end": attrs.end, "step": attrs.step}


# -- slice -----------------------------------------------------------------------------------------------------------
def _infer_slice(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None:
        return ins, outs
    return ins, [unify(sliced_shape(attrs.begin, attrs.end, attrs.step, ins[0]), outs[0])]


def _slice(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data[slice_key(attrs.begin, attrs.end, attrs.step, data.shape)]


def _grad_slice(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_slice(heads[0], node.inputs[0], **_ranges(node.attrs))


def _backward_slice(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[slice_key(attrs.begin, attrs.end, attrs.step, data.shape)] = head
    return result


def _grad_backward_slice(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.slice(heads[0], **_ranges(node.attrs)), None]


# -- slice_axis ------------------------------------------------------------------------------------------------------
def _axis_range(attrs: Attrs, shape: tuple[int, ...]) -> tuple[int, int, int]:
    axis = normalize_axis(attrs.axis, len(shape))
    extent = shape[axis]
    begin = attrs.begin + extent if attrs.begin < 0 else attrs.begin
    end = extent if attrs.end is None else attrs.end + extent if attrs.end < 0 else attrs.end
    if not 0 <= begin < end <= extent:
        raise MXNetError(
            f"`begin` {attrs.begin} and `end` {attrs.end} are no range of axis {axis} of shape {shape}: "
            f"0 <= begin < end <= {extent} must hold after counting negative ones from the end"
        )
    return axis, begin, end


def _infer_slice_axis(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(source))
    length = -1
    if source[axis] != -1:
        _, begin, end = _axis_range(attrs, source)
        length = end - begin
    return ins, [unify((*source[:axis], length, *source[axis + 1 :]), outs[0])]


def _axis_key(attrs: Attrs, shape: tuple[int, ...]) -> tuple[slice, ...]:
    axis, begin, end = _axis_range(attrs, shape)
    return (slice(None),) * axis + (slice(begin, end),)


def _slice_axis(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data[_axis_key(attrs, data.shape)]


def _grad_slice_axis(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    return F._backward_slice_axis(heads[0], node.inputs[0], axis=attrs.axis, begin=attrs.begin, end=attrs.end)


def _backward_slice_axis(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[_axis_key(attrs, data.shape)] = head
    return result


def _grad_backward_slice_axis(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    return [F.slice_axis(heads[0], axis=attrs.axis, begin=attrs.begin, end=attrs.end), None]


# -- slice_like ------------------------------------------------------------------------------------------------------
def _like_shape(attrs: Attrs, data: tuple[int, ...], like: tuple[int, ...]) -> tuple[int, ...]:
    if not attrs.axes and len(data) != len(like):
        raise MXNetError(f"`data` {data} and `shape_like` {like} need the same number of dimensions, or give `axes`")
    target = list(data)
    for axis in attrs.axes or range(len(data)):
        at = normalize_axis(axis, len(data), "axes")
        wanted = like[normalize_axis(at, len(like), "axes")]
        if -1 not in (wanted, data[at]) and wanted > data[at]:
            raise MXNetError(f"axis {at} of `shape_like` {like} is longer than that of `data` {data}")
        target[at] = wanted
    return tuple(target)


def _infer_slice_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None or ins[1] is None:
        return ins, outs
    return ins, [unify(_like_shape(attrs, ins[0], ins[1]), outs[0])]


def _slice_like(xp: Any, attrs: Attrs, data: Any, like: Any) -> Any:
    return data[tuple(slice(0, n) for n in _like_shape(attrs, data.shape, like.shape))]


def _grad_slice_like(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_slice_like(heads[0], node.inputs[0]), None]


def _backward_slice_like(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    result = xp.zeros(data.shape, dtype=head.dtype)
    result[tuple(slice(0, n) for n in head.shape)] = head
    return result


def _grad_backward_slice_like(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.slice_like(heads[0], node.inputs[0]), None]


_AXIS = (Attr("axis", "int"), Attr("begin", "int"), Attr("end", "int?", doc="None: to the end of the axis"))

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "slice",
        _slice,
        attrs=RANGE,
        infer_shape=_infer_slice,
        grad=_grad_slice,
        aliases=("crop", "_sparse_slice", "_npi_slice", "_npx_slice"),
        methods=("slice",),
        view=True,
        doc="`data[begin:end:step]` over its leading axes, with Python's meaning of negative and missing bounds.",
        samples=(
            Sample(((3, 4, 5),), {"begin": (0, 1), "end": (2, 3)}),
            Sample(((3, 4),), {"begin": (None, -1), "end": (None, None), "step": (2, -1)}),
            Sample(((1,),), {"begin": (0,), "end": (100,)}),
            Sample(((3, 4),), {"begin": (2,), "end": (1,)}),
            Sample(((3, 4),), {"begin": (0, 0, 0), "end": (1, 1, 1)}, error="MXNetError"),
            Sample(((3, 4),), {"begin": (0,), "end": (2,), "step": (0,)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_slice",
        _backward_slice,
        inputs=("head", "data"),
        attrs=RANGE,
        infer_shape=infer_like,
        grad=_grad_backward_slice,
        doc="The gradient of `slice`: `head` in place, zeros elsewhere, in the shape of `data`.",
        samples=(Sample(((2, 2), (3, 4)), {"begin": (0, -1), "end": (2, 0), "step": (1, -2)}, nograd=(1,)),),
    ),
    OpDef(
        "slice_axis",
        _slice_axis,
        attrs=_AXIS,
        infer_shape=_infer_slice_axis,
        grad=_grad_slice_axis,
        methods=("slice_axis",),
        view=True,
        by_rows=lambda attrs, ins: (0,) if ins[0] is not None and attrs.axis % len(ins[0]) else (),
        doc="`data[begin:end]` along one axis. Unlike `slice`, bounds outside the axis and empty ranges are refused.",
        samples=(
            Sample(((3, 4, 5),), {"axis": 1, "begin": 1, "end": 3}),
            Sample(((3, 4),), {"axis": -1, "begin": -2, "end": None}),
            Sample(((1,),), {"axis": 0, "begin": 0, "end": 1}),
            Sample(((0, 3),), {"axis": 1, "begin": 0, "end": 2}),
            Sample(((3, 4),), {"axis": 1, "begin": 3, "end": 1}, error="MXNetError"),
            Sample(((3, 4),), {"axis": 2, "begin": 0, "end": 1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_slice_axis",
        _backward_slice_axis,
        inputs=("head", "data"),
        attrs=_AXIS,
        infer_shape=infer_like,
        grad=_grad_backward_slice_axis,
        doc="The gradient of `slice_axis`: `head` in place, zeros elsewhere, in the shape of `data`.",
        samples=(Sample(((3, 2), (3, 4)), {"axis": -1, "begin": 1, "end": 3}, nograd=(1,)),),
    ),
    OpDef(
        "slice_like",
        _slice_like,
        inputs=("data", "shape_like"),
        attrs=(Attr("axes", "shape", (), doc="the axes to cut; all by default"),),
        infer_shape=_infer_slice_like,
        infer_dtype=first_dtype,
        grad=_grad_slice_like,
        methods=("slice_like",),
        view=True,
        doc="The front part of `data` with the extents of `shape_like` along `axes`.",
        samples=(
            Sample(((3, 4, 5), (2, 3, 2)), nograd=(1,)),
            Sample(((3, 4, 5), (2, 3)), {"axes": (0, 1)}, nograd=(1,)),
            Sample(((3, 4), (2, 2)), {"axes": (-1,)}, nograd=(1,)),
            Sample(((1,), (1,)), nograd=(1,)),
            Sample(((2, 4), (0, 4)), nograd=(1,)),
            Sample(((3, 4), (4, 4)), error="MXNetError"),
            Sample(((3, 4), (3,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_slice_like",
        _backward_slice_like,
        inputs=("head", "data"),
        infer_shape=infer_like,
        grad=_grad_backward_slice_like,
        doc="The gradient of `slice_like`: `head` in front, zeros behind, in the shape of `data`.",
        samples=(Sample(((2, 3), (3, 4)), nograd=(1,)),),
    ),
)
