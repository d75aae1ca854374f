"""Operators that cut an array into several along an axis: SliceChannel (split) and _split_v2."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis, unify


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"output{i}" for i in range(count))


def _cut(data: Any, axis: int, bounds: Sequence[int], squeeze: bool) -> tuple[Any, ...]:
    """The parts of `data` between neighbouring `bounds` along `axis`."""
    front = (slice(None),) * axis
    if squeeze:
        return tuple([data[(*front, start)] for start in bounds[:-1]])
    return tuple([data[(*front, slice(start, stop))] for start, stop in pairwise(bounds)])


# -- SliceChannel ----------------------------------------------------------------------------------------------------
def _infer_slice_channel(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    count = attrs.num_outputs
    if count < 1:
        raise MXNetError(f"`num_outputs` must be at least 1, got {count}")
    source = ins[0]
    part: Shape = None
    for out in outs:
        part = unify(part, out)
    if source is None and part is None:
        return ins, outs
    ndim = len(source) if source is not None else len(part or ()) + attrs.squeeze_axis
    axis = normalize_axis(attrs.axis, ndim)
    if part is not None and not attrs.squeeze_axis:
        source = unify(source, (*part[:axis], -1 if part[axis] == -1 else part[axis] * count, *part[axis + 1 :]))
    elif part is not None:
        source = unify(source, (*part[:axis], count, *part[axis:]))
    assert source is not None
    extent = source[axis]
    if extent != -1 and (extent % count or (attrs.squeeze_axis and extent != count)):
        raise MXNetError(
            f"cannot split axis {axis} of shape {source} into {count} parts"
            f"{' of extent 1, which `squeeze_axis` needs' if attrs.squeeze_axis else ' of one size'}"
        )
    middle: tuple[int, ...] = () if attrs.squeeze_axis else (-1 if extent == -1 else extent // count,)
    result = unify((*source[:axis], *middle, *source[axis + 1 :]), part)
    return [source], [result] * len(outs)


def _slice_channel(xp: Any, attrs: Attrs, data: Any) -> tuple[Any, ...]:
    axis = attrs.axis % data.ndim
    size = data.shape[axis] // attrs.num_outputs
    return _cut(data, axis, [i * size for i in range(attrs.num_outputs + 1)], attrs.squeeze_axis)


def _grad_split(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    if node.attrs.squeeze_axis:
        return F.stack(*heads, axis=node.attrs.axis)
    return F.Concat(*heads, dim=node.attrs.axis)


# -- _split_v2 -------------------------------------------------------------------------------------------------------
def _parts(attrs: Attrs) -> tuple[str, ...]:
    count = attrs.sections if attrs.sections > 0 else len(attrs.indices)
    return _numbered(count) if count > 1 else ("output",)


def _bounds(attrs: Attrs, extent: int) -> list[int]:
    if attrs.sections > 0:
        if extent % attrs.sections:
            raise MXNetError(f"an axis of extent {extent} does not divide into {attrs.sections} sections")
        return [i * (extent // attrs.sections) for i in range(attrs.sections + 1)]
    bounds = [*attrs.indices, extent]
    for start, stop in pairwise(bounds):
        if not 0 <= start <= stop <= extent:
            raise MXNetError(f"`indices` {attrs.indices} must grow and lie between 0 and the extent {extent}")
    return bounds


def _infer_split_v2(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(source))
    front, back = source[:axis], source[axis + 1 :]
    if source[axis] == -1:
        middle: tuple[int, ...] = () if attrs.squeeze_axis else (-1,)
        return ins, [unify((*front, *middle, *back), out) for out in outs]
    bounds = _bounds(attrs, source[axis])
    sizes = [stop - start for start, stop in pairwise(bounds)]
    if attrs.squeeze_axis:
        if any(size != 1 for size in sizes):
            raise MXNetError(f"`squeeze_axis` needs parts of extent 1 along axis {axis}, got {tuple(sizes)}")
        return ins, [unify((*front, *back), out) for out in outs]
    return ins, [unify((*front, size, *back), out) for size, out in zip(sizes, outs)]


def _split_v2(xp: Any, attrs: Attrs, data: Any) -> tuple[Any, ...]:
    axis = attrs.axis % data.ndim
    return _cut(data, axis, _bounds(attrs, data.shape[axis]), attrs.squeeze_axis)


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "SliceChannel",
        _slice_channel,
        attrs=(Attr("num_outputs", "int"), Attr("axis", "int", 1), Attr("squeeze_axis", "bool", False)),
        outputs=lambda attrs: _numbered(attrs.num_outputs),
        infer_shape=_infer_slice_channel,
        grad=_grad_split,
        aliases=("split",),
        methods=("split",),
        view=True,
        doc="`data` cut into `num_outputs` equal parts along `axis`; `squeeze_axis` drops the axis (of extent 1).",
        samples=(
            Sample(((2, 6, 3),), {"num_outputs": 3}),
            Sample(((2, 3, 4),), {"num_outputs": 2, "axis": -1}),
            Sample(((2, 3, 4),), {"num_outputs": 3, "axis": 1, "squeeze_axis": True}),
            Sample(((2, 3),), {"num_outputs": 1}),
            Sample(((0, 4),), {"num_outputs": 2}),
            Sample(((2, 5),), {"num_outputs": 2}, error="MXNetError"),
            Sample(((2, 4),), {"num_outputs": 2, "axis": 3}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_split_v2",
        _split_v2,
        attrs=(
            Attr("indices", "shape", doc="where each part starts, the first at 0; not read when `sections` is given"),
            Attr("axis", "int", 1),
            Attr("squeeze_axis", "bool", False),
            Attr("sections", "int", 0, doc="number of equal parts"),
        ),
        outputs=_parts,
        infer_shape=_infer_split_v2,
        grad=_grad_split,
        aliases=("_npi_split",),
        view=True,
        doc="`data` cut along `axis` at `indices` or into `sections` equal parts; `split_v2` is the public function.",
        samples=(
            Sample(((7, 2),), {"indices": (0, 2, 5), "axis": 0}),
            Sample(((2, 6),), {"indices": (), "sections": 3, "axis": -1}),
            Sample(((2, 3),), {"indices": (), "sections": 3, "squeeze_axis": True}),
            Sample(((2, 4),), {"indices": (0, 1, 1)}),
            Sample(((2, 4),), {"indices": (0, 9)}, error="MXNetError"),
        ),
    ),
)
