"""contrib.PSROIPooling, DeformablePSROIPooling and RROIAlign: regions with channels for each cell, and turned ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.dual import Dual
from autohybrid.tensor.dual_namespace import DualNamespace
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.scatter import add_rows
from autohybrid.tensor.shapes import require_known, same_floating, unify

_SENSITIVE = (Attr("spatial_scale", "float", low=0, high=1), Attr("output_dim", "int"))
_PLAIN = (*_SENSITIVE, Attr("pooled_size", "int"), Attr("group_size", "int", 0))
_DEFORMABLE = (
    *_SENSITIVE,
    Attr("group_size", "int"),
    Attr("pooled_size", "int"),
    Attr("part_size", "int", 0),
    Attr("sample_per_part", "int", 1),
    Attr("trans_std", "float", 0.0, low=0, high=1),
    Attr("no_trans", "bool", False),
)
_ROTATED = (
    Attr("pooled_size", "shape"),
    Attr("spatial_scale", "float", low=0, high=1),
    Attr("sampling_ratio", "int", -1),
)


def _sensitive_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data", "rois"), ins[:2])
    data, rois = ins[:2]
    assert data is not None and rois is not None
    if len(data) != 4 or len(rois) != 2 or rois[1] not in (5, -1):
        raise MXNetError(f"data must have 4 dimensions and `rois` shape (regions, 5), got {data} and {rois}")
    group = attrs.group_size or attrs.pooled_size
    wanted = attrs.output_dim * group * group
    if data[1] not in (wanted, -1):
        raise MXNetError(f"data must have output_dim * group_size ** 2 = {wanted} channels, got {data[1]}")
    size = attrs.pooled_size
    return ins, [unify((rois[0], attrs.output_dim, size, size), outs[0])]


def _rounded(xp: Any, x: Any) -> Any:
    return xp.sign(x) * xp.floor(xp.abs(x) + 0.5)


def _channels(xp: Any, attrs: Attrs) -> Any:
    """The channel of data that each output cell reads: (output_dim, rows, columns)."""
    group, size = attrs.group_size or attrs.pooled_size, attrs.pooled_size
    cell = xp.clip((xp.arange(size) * group) // size, 0, group - 1)
    rows = xp.arange(attrs.output_dim)[:, None, None] * group + cell[:, None]
    return rows * group + cell


# -- PSROIPooling ------------------------------------------------------------------------------------------------------


def _cell_masks(xp: Any, low: Any, high: Any, cells: int, extent: int, dtype: Any) -> Any:
    """1 / n at the n pixels of each cell of the spans: (regions, cells, extent)."""
    size = (xp.maximum(high - low, 0.1)[:, None] / cells).astype(low.dtype)
    # MXNet's compiler joins this product and sum: one rounding, not two
    edges = (xp.arange(cells + 1) * size.astype("float64") + low[:, None]).astype(low.dtype)
    start = xp.clip(xp.floor(edges[:, :-1]), 0, extent)
    end = xp.clip(xp.ceil(edges[:, 1:]), 0, extent)
    pixels = xp.arange(extent)
    inside = (pixels >= start[:, :, None]) & (pixels < end[:, :, None])
    return (inside / xp.maximum(end - start, 1)[:, :, None]).astype(dtype)


def _averages(xp: Any, attrs: Attrs, data: Any, rois: Any) -> tuple[Any, Any, Any]:
    # In the precision of the data, with a scale in single precision, as in MXNet: rounding decides where cells begin.
    precision = xp.promote_types(data.dtype, "float32")
    bounds = _rounded(xp, rois[:, 1:].astype(xp.float64)).astype(precision)
    scale = precision.type(xp.float32(attrs.spatial_scale))
    low, high = bounds[:, :2] * scale, (bounds[:, 2:] + 1) * scale
    size = attrs.pooled_size
    rows = _cell_masks(xp, low[:, 1], high[:, 1], size, data.shape[2], data.dtype)
    columns = _cell_masks(xp, low[:, 0], high[:, 0], size, data.shape[3], data.dtype)
    return rois[:, 0].astype(xp.int64), rows, columns


def _sensitive(xp: Any, attrs: Attrs, data: Any, rois: Any) -> Any:
    (x,) = widen(xp, data)
    image, rows, columns = _averages(xp, attrs, x, rois)
    pooled = xp.matmul(xp.matmul(rows[:, None], x[image]), columns.swapaxes(1, 2)[:, None])
    cells = xp.arange(attrs.pooled_size)
    return narrow(pooled[:, _channels(xp, attrs), cells[:, None], cells], data)


def _sensitive_backward(xp: Any, attrs: Attrs, head: Any, data: Any, rois: Any) -> Any:
    h, x = widen(xp, head, data)
    image, rows, columns = _averages(xp, attrs, x, rois)
    cells, size = xp.arange(attrs.pooled_size), attrs.pooled_size
    spread = xp.zeros((rois.shape[0], data.shape[1], size, size), dtype=h.dtype)
    spread[:, _channels(xp, attrs), cells[:, None], cells] = h
    share = xp.matmul(xp.matmul(rows.swapaxes(1, 2)[:, None], spread), columns[:, None])
    return narrow(add_rows(xp, data.shape[0], image, share), head)


def _settings(attrs: Attrs, schema: tuple[Attr, ...]) -> dict[str, Any]:
    return {a.name: getattr(attrs, a.name) for a in schema}


def _sensitive_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_PSROIPooling(heads[0], *node.inputs, **_settings(node.attrs, _PLAIN)), None]


def _sensitive_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._contrib_PSROIPooling(heads[0], node.inputs[2], **_settings(node.attrs, _PLAIN)), None, None]


# -- DeformablePSROIPooling --------------------------------------------------------------------------------------------


def _deformable_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "rois") if attrs.no_trans else ("data", "rois", "trans")


def _deformable_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if attrs.sample_per_part < 1:
        raise MXNetError(f"`sample_per_part` must be positive, got {attrs.sample_per_part}")
    known, found = _sensitive_shape(attrs, ins, outs)
    if not attrs.no_trans and ins[2] is not None:
        part = attrs.part_size or attrs.pooled_size
        trans = unify(ins[2], (known[1][0] if known[1] is not None else -1, -1, part, part))
        assert trans is not None
        if trans[1] != -1 and (trans[1] % 2 or trans[1] == 0 or attrs.output_dim % (trans[1] // 2)):
            raise MXNetError(
                f"`trans` of shape {trans} must have two channels for each of a divisor of output_dim classes"
            )
        known = [known[0], known[1], trans]
    return known, found


class _Samples(NamedTuple):
    """Where samples lie: rows and columns (regions, output_dim, cells, cells, samples, samples), and their weight."""

    rows: Any
    columns: Any
    weight: Any
    scale_rows: Any
    scale_columns: Any
    image: Any


def _samples(xp: Any, attrs: Attrs, data: Any, rois: Any, trans: Any) -> _Samples:
    size, count = attrs.pooled_size, attrs.sample_per_part
    bounds = _rounded(xp, rois[:, 1:].astype(xp.float64))
    scale = float(xp.float32(attrs.spatial_scale))  # single, as MXNet's attribute
    low = bounds[:, :2] * scale - 0.5
    extent = xp.maximum((bounds[:, 2:] + 1) * scale - 0.5 - low, 0.1)
    cell = extent / size
    shape = (rois.shape[0], attrs.output_dim, size, size, 1, 1)
    moves = [xp.zeros(shape)] * 2
    if trans is not None:
        part = attrs.part_size or size
        where = (xp.arange(size) * part) // size
        kinds = xp.arange(attrs.output_dim) // (attrs.output_dim // (trans.shape[1] // 2))
        picked = trans[:, :, where[:, None], where] * attrs.trans_std
        moves = [picked[:, 2 * kinds + k].reshape(shape) for k in (0, 1)]
    steps, inner = xp.arange(size), xp.arange(count)

    def along(axis: int, move: Any, cells: tuple[int, ...], samples: tuple[int, ...]) -> Any:
        wide = (-1, 1, 1, 1, 1, 1)
        base = low[:, axis].reshape(wide) + steps.reshape(cells) * cell[:, axis].reshape(wide)
        inside = inner.reshape(samples) * (cell[:, axis] / count).reshape(wide)
        return base + move * extent[:, axis].reshape(wide) + inside

    columns = along(0, moves[0], (1, 1, 1, -1, 1, 1), (1, 1, 1, 1, 1, -1))
    rows = along(1, moves[1], (1, 1, -1, 1, 1, 1), (1, 1, 1, 1, -1, 1))
    height, width = data.shape[2:]
    rows, columns = xp.broadcast_arrays(rows, columns)
    used = (columns >= -0.5) & (columns <= width - 0.5) & (rows >= -0.5) & (rows <= height - 0.5)
    weight = used / xp.maximum(used.sum(axis=(4, 5), keepdims=True), 1)
    free_rows, free_columns = (rows >= 0) & (rows <= height - 1), (columns >= 0) & (columns <= width - 1)
    factor = attrs.trans_std * extent
    return _Samples(
        xp.clip(rows, 0, height - 1),
        xp.clip(columns, 0, width - 1),
        weight,
        free_rows * factor[:, 1].reshape(-1, 1, 1, 1, 1, 1),
        free_columns * factor[:, 0].reshape(-1, 1, 1, 1, 1, 1),
        rois[:, 0].astype(xp.int64),
    )


def _corners(xp: Any, attrs: Attrs, data: Any, found: _Samples) -> list[tuple[Any, Any, Any, Any]]:
    """For each corner of a sample's pixel: flat index into data, weight, and what its derivatives weigh."""
    channels, height, width = data.shape[1:]
    top, left = xp.floor(found.rows), xp.floor(found.columns)
    down, right = found.rows - top, found.columns - left
    channel = _channels(xp, attrs).reshape(1, attrs.output_dim, attrs.pooled_size, attrs.pooled_size, 1, 1)
    first = (found.image.reshape(-1, 1, 1, 1, 1, 1) * channels + channel) * (height * width)
    corners = []
    for dy in (0, 1):
        for dx in (0, 1):
            row = xp.minimum(top.astype(xp.int64) + dy, height - 1)
            column = xp.minimum(left.astype(xp.int64) + dx, width - 1)
            vertical, horizontal = (down if dy else 1 - down), (right if dx else 1 - right)
            index = first + row * width + column
            signs = ((1 if dy else -1) * horizontal, (1 if dx else -1) * vertical)
            corners.append((index, vertical * horizontal * found.weight, *signs))
    return corners


def _deformable(xp: Any, attrs: Attrs, data: Any, rois: Any, trans: Any = None) -> Any:
    (x,) = widen(xp, data)
    flat, total = x.reshape(-1), 0
    for index, weight, _, _ in _corners(xp, attrs, x, _samples(xp, attrs, x, rois, trans)):
        total = total + (flat[index] * weight).sum(axis=(4, 5))
    return total.astype(data.dtype)  # type: ignore[attr-defined]


def _deformable_backward(xp: Any, attrs: Attrs, head: Any, data: Any, rois: Any, trans: Any = None) -> Any:
    h, x = widen(xp, head, data)
    found = _samples(xp, attrs, x, rois, trans)
    flat, spread = x.reshape(-1), h[:, :, :, :, None, None]
    to_data = xp.zeros(flat.shape, dtype=xp.float64)
    to_rows, to_columns = 0, 0
    for index, weight, along_rows, along_columns in _corners(xp, attrs, x, found):
        to_data += xp.bincount(index.reshape(-1), weights=(spread * weight).reshape(-1), minlength=flat.size)
        value = flat[index] * found.weight * spread
        to_rows = to_rows + value * along_rows
        to_columns = to_columns + value * along_columns
    to_data = to_data.reshape(data.shape).astype(data.dtype)
    if trans is None:
        return to_data
    part, size = attrs.part_size or attrs.pooled_size, attrs.pooled_size
    where = (xp.arange(size) * part) // size
    cell = (where[:, None] == xp.arange(part)).astype(h.dtype)
    classes = trans.shape[1] // 2
    moved = []
    for along, scale in ((to_columns, found.scale_columns), (to_rows, found.scale_rows)):
        each = (along * scale).sum(axis=(4, 5)).reshape(rois.shape[0], classes, -1, size, size).sum(axis=2)
        moved.append(xp.matmul(xp.matmul(cell.T, each), cell))
    return to_data, xp.stack(moved, axis=2).reshape(trans.shape).astype(trans.dtype)


def _deformable_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    found = F._backward_DeformablePSROIPooling(heads[0], *node.inputs, **_settings(node.attrs, _DEFORMABLE))
    return [found, None] if node.attrs.no_trans else [found[0], None, found[1]]


def _deformable_backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [ins[1]] if attrs.no_trans else [ins[1], ins[3]]


def _moving(attrs: Attrs) -> tuple[str, ...]:
    return ("data",) if attrs.no_trans else ("data", "trans")


def _deformable_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    settings = _settings(node.attrs, _DEFORMABLE)
    to_head, to_data, *to_trans = F._second_DeformablePSROIPooling(*heads, *node.inputs, **settings)
    return [to_head, to_data, None, *to_trans]


def _deformable_second(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
    """<directions, backward> has as gradients the derivatives along the directions of the output, for the head, and
    of backward itself."""
    count = len(_moving(attrs))
    directions, (head, data, rois, *trans) = arrays[:count], arrays[count:]
    moving = [Dual(value, along) for value, along in zip((data, *trans), directions)]
    duals, inputs = DualNamespace(xp), (moving[0], rois, *moving[1:])
    gradients = _deformable_backward(duals, attrs, head, *inputs)
    found = (_deformable(duals, attrs, *inputs), *([gradients] if attrs.no_trans else gradients))
    return tuple(each.tangent for each in found)


def _deformable_second_inputs(attrs: Attrs) -> tuple[str, ...]:
    return (*[f"{name}_direction" for name in _moving(attrs)], "head", *_deformable_inputs(attrs))


def _deformable_second_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    head, data, _, *trans = ins[len(_moving(attrs)) :]
    return ins, [unify(a, b) for a, b in zip((head, data, *trans), outs)]


# -- RROIAlign ---------------------------------------------------------------------------------------------------------


def _rotated_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data", "rois"), ins)
    data, rois = ins
    assert data is not None and rois is not None
    if len(data) != 4 or len(rois) != 2 or rois[1] not in (6, -1):
        raise MXNetError(f"data must have 4 dimensions and `rois` shape (regions, 6), got {data} and {rois}")
    if len(attrs.pooled_size) != 2:
        raise MXNetError(f"`pooled_size` must have 2 entries, got {attrs.pooled_size}")
    return ins, [unify((rois[0], data[1], *attrs.pooled_size), outs[0])]


def _rotated(xp: Any, attrs: Attrs, data: Any, rois: Any) -> Any:
    (x,) = widen(xp, data)
    height, width = attrs.pooled_size
    bounds = rois[:, 1:5].astype(xp.float64) * attrs.spatial_scale
    size = xp.maximum(bounds[:, 2:], 1)
    angle = rois[:, 5].astype(xp.float64) * (math.pi / 180)
    cosine, sine = xp.cos(angle).reshape(-1, 1, 1), xp.sin(angle).reshape(-1, 1, 1)
    cell = [size[:, 1] / height, size[:, 0] / width]
    counts = [xp.full(c.shape, attrs.sampling_ratio) if attrs.sampling_ratio > 0 else xp.ceil(c) for c in cell]
    most = [attrs.sampling_ratio if attrs.sampling_ratio > 0 else max(int(c.max().item()), 1) for c in counts]
    total = xp.zeros((rois.shape[0], x.shape[1], height, width), dtype=x.dtype)
    for i in range(most[0]):
        for j in range(most[1]):
            rows = _offsets(xp, size[:, 1], cell[0], counts[0], i, height)[:, :, None]
            columns = _offsets(xp, size[:, 0], cell[1], counts[1], j, width)[:, None, :]
            across = columns * cosine + rows * sine + bounds[:, 0].reshape(-1, 1, 1)
            down = rows * cosine - columns * sine + bounds[:, 1].reshape(-1, 1, 1)
            used = ((i < counts[0]) & (j < counts[1])).reshape(-1, 1, 1)
            total += _clamped_sample(xp, x, rois[:, 0].astype(xp.int64), down, across, used)
    return narrow(total / (counts[0] * counts[1]).reshape(-1, 1, 1, 1).astype(x.dtype), data)


def _offsets(xp: Any, size: Any, cell: Any, counts: Any, sample: int, cells: int) -> Any:
    start = -size / 2 + (sample + 0.5) * cell / counts
    return start[:, None] + xp.arange(cells) * cell[:, None]


def _clamped_sample(xp: Any, x: Any, image: Any, rows: Any, columns: Any, used: Any) -> Any:
    """Interpolated values (regions, channels, cells...); up to a pixel outside the border counts, beyond it is 0."""
    height, width = x.shape[2:]
    inside = used & (rows >= -1) & (rows <= height) & (columns >= -1) & (columns <= width)
    rows, columns = xp.clip(rows, 0, height - 1), xp.clip(columns, 0, width - 1)
    top, left = xp.floor(rows).astype(xp.int64), xp.floor(columns).astype(xp.int64)
    down, right = (rows - top)[:, None], (columns - left)[:, None]
    below, beside = xp.minimum(top + 1, height - 1), xp.minimum(left + 1, width - 1)
    where = (image.reshape(-1, 1, 1, 1), xp.arange(x.shape[1]).reshape(1, -1, 1, 1))
    upper = x[(*where, top[:, None], left[:, None])] * (1 - right) + x[(*where, top[:, None], beside[:, None])] * right
    lower = (
        x[(*where, below[:, None], left[:, None])] * (1 - right) + x[(*where, below[:, None], beside[:, None])] * right
    )
    return ((upper * (1 - down) + lower * down) * inside[:, None]).astype(x.dtype)


_ROIS = [[0, 0.3, 1.2, 5.1, 4.4], [1, 2, 0, 5, 3]]
_TWO: dict[str, Any] = {"spatial_scale": 0.75, "output_dim": 2, "pooled_size": 3, "group_size": 2}
_MOVED: dict[str, Any] = {**_TWO, "trans_std": 0.1, "sample_per_part": 2, "part_size": 2}

OPERATORS = (
    OpDef(
        "_contrib_PSROIPooling",
        _sensitive,
        inputs=("data", "rois"),
        attrs=_PLAIN,
        infer_shape=_sensitive_shape,
        infer_dtype=same_floating,
        grad=_sensitive_grad,
        doc="""Averages over `pooled_size` cells a side of each region, each cell from channels of its own: (regions,
        output_dim, cells, cells) from data (n, output_dim * group_size ** 2, height, width).""",
        samples=(
            Sample(((2, 8, 6, 6), (2, 5)), _TWO, values={1: _ROIS}, nograd=(1,)),
            Sample(((2, 7, 6, 6), (2, 5)), _TWO, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_PSROIPooling",
        _sensitive_backward,
        inputs=("head", "data", "rois"),
        attrs=_PLAIN,
        infer_shape=lambda attrs, ins, outs: (ins, [unify(ins[1], outs[0])]),
        infer_dtype=same_floating,
        grad=_sensitive_backward_grad,
        doc="The gradient of PSROIPooling for its data (of which only the shape matters).",
        samples=(Sample(((2, 2, 3, 3), (2, 8, 6, 6), (2, 5)), _TWO, values={2: _ROIS}, nograd=(2,)),),
    ),
    OpDef(
        "_contrib_DeformablePSROIPooling",
        _deformable,
        inputs=("data", "rois", "trans"),
        attrs=_DEFORMABLE,
        active_inputs=_deformable_inputs,
        infer_shape=_deformable_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 2,
        grad=_deformable_grad,
        doc="""PSROIPooling from `sample_per_part` interpolated samples a side of each cell, and cells moved by
        `trans` (regions, 2 * classes, part_size, part_size) times `trans_std` times the size of the region.""",
        samples=(
            Sample(((2, 8, 6, 6), (2, 5), (2, 2, 2, 2)), _MOVED, values={1: _ROIS}, nograd=(1,)),
            Sample(((2, 8, 6, 6), (2, 5)), {**_TWO, "no_trans": True}, values={1: _ROIS}, nograd=(1,)),
            Sample(((2, 8, 6, 6), (2, 5), (2, 3, 2, 2)), _MOVED, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_DeformablePSROIPooling",
        _deformable_backward,
        inputs=("head", "data", "rois", "trans"),
        attrs=_DEFORMABLE,
        active_inputs=lambda attrs: ("head", *_deformable_inputs(attrs)),
        outputs=_moving,
        infer_shape=_deformable_backward_shape,
        infer_dtype=same_floating,
        grad=_deformable_backward_grad,
        doc="The gradients of DeformablePSROIPooling for data and moves.",
        samples=(Sample(((2, 2, 3, 3), (2, 8, 6, 6), (2, 5), (2, 2, 2, 2)), _MOVED, values={2: _ROIS}, nograd=(2,)),),
    ),
    OpDef(
        "_second_DeformablePSROIPooling",
        _deformable_second,
        inputs=("data_direction", "trans_direction", "head", "data", "rois", "trans"),
        attrs=_DEFORMABLE,
        active_inputs=_deformable_second_inputs,
        outputs=lambda attrs: ("head", *_moving(attrs)),
        infer_shape=_deformable_second_shape,
        infer_dtype=same_floating,
        doc="The gradients of `_backward_DeformablePSROIPooling` for head, data and moves.",
        samples=(
            Sample(
                ((2, 8, 6, 6), (2, 2, 2, 2), (2, 2, 3, 3), (2, 8, 6, 6), (2, 5), (2, 2, 2, 2)),
                _MOVED,
                values={4: _ROIS},
            ),
        ),
    ),
    OpDef(
        "_contrib_RROIAlign",
        _rotated,
        inputs=("data", "rois"),
        attrs=_ROTATED,
        infer_shape=_rotated_shape,
        infer_dtype=same_floating,
        doc="""ROIAlign of turned regions: rows of image, center x, center y, width, height, angle in degrees; not
        differentiable, as in MXNet.""",
        samples=(
            Sample(
                ((2, 2, 6, 6), (1, 6)), {"pooled_size": (2, 3), "spatial_scale": 1.0}, values={1: [[1, 3, 3, 4, 2, 30]]}
            ),
            Sample(((2, 2, 6, 6), (1, 5)), {"pooled_size": (2, 3), "spatial_scale": 1.0}, error="MXNetError"),
        ),
    ),
)
