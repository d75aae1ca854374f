"""ROIPooling and ROIAlign: regions of images pooled to one size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.sampling import first_maxima
from autohybrid.tensor.scatter import add_rows
from autohybrid.tensor.shapes import require_known, same_floating, unify

_SIZE = Attr("pooled_size", "shape")
_SCALE = Attr("spatial_scale", "float", low=0, high=1)
_POOL = (_SIZE, _SCALE)
_ALIGN = (
    *_POOL,
    Attr("sample_ratio", "int", -1),
    Attr("position_sensitive", "bool", False),
    Attr("aligned", "bool", False),
)
_CHUNK_ELEMENTS = 1 << 22


def _size(attrs: Attrs) -> tuple[int, int]:
    if len(attrs.pooled_size) != 2 or min(attrs.pooled_size) < 1:
        raise MXNetError(f"`pooled_size` must be two positive numbers, got {attrs.pooled_size}")
    return attrs.pooled_size[0], attrs.pooled_size[1]


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data", "rois"), ins)
    data, rois = ins
    assert data is not None and rois is not None
    if len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    if len(rois) != 2 or rois[1] not in (5, -1):
        raise MXNetError(f"`rois` must have shape (regions, 5), rows of image, x1, y1, x2, y2, got {rois}")
    height, width = _size(attrs)
    channels = data[1]
    if getattr(attrs, "position_sensitive", False) and channels != -1:
        if channels % (height * width):
            raise MXNetError(f"the {channels} channels of data are not a multiple of the {height * width} cells")
        channels //= height * width
    return ins, [unify((rois[0], channels, height, width), outs[0])]


# -- ROIPooling --------------------------------------------------------------------------------------------------------


def _round(xp: Any, x: Any) -> Any:
    """C's round, halves away from zero, as integers."""
    return (xp.sign(x) * xp.floor(xp.abs(x) + 0.5)).astype(xp.int64)


def _cells(xp: Any, low: Any, high: Any, cells: int, extent: int) -> tuple[Any, Any]:
    """Half open bounds (regions, cells) of the cells of the span [low, high], both included, within the image."""
    size = xp.maximum(high - low + 1, 1) / cells
    steps = xp.arange(cells)
    start = xp.floor(steps * size[:, None]).astype(xp.int64) + low[:, None]
    end = xp.ceil((steps + 1) * size[:, None]).astype(xp.int64) + low[:, None]
    return xp.clip(start, 0, extent), xp.clip(end, 0, extent)


def _pooled(xp: Any, attrs: Attrs, data: Any, rois: Any) -> tuple[Any, Any, Any]:
    """The images (regions,), the maxima' indices (regions, channels, rows, columns), and which cells are not empty."""
    rows, columns = attrs.pooled_size
    bounds = _round(xp, rois[:, 1:].astype(xp.float64) * attrs.spatial_scale)
    top, bottom = _cells(xp, bounds[:, 1], bounds[:, 3], rows, data.shape[2])
    left, right = _cells(xp, bounds[:, 0], bounds[:, 2], columns, data.shape[3])
    image = rois[:, 0].astype(xp.int64)
    shape = (rois.shape[0], rows, columns)
    spans: Any = [
        xp.broadcast_to(b, shape) for b in (top[:, :, None], bottom[:, :, None], left[:, None], right[:, None])
    ]
    found = first_maxima(xp, data, spans, image)
    filled = ((bottom > top)[:, :, None] & (right > left)[:, None])[:, None]
    return image, found, filled


def _place(xp: Any, image: Any, channels: int) -> tuple[Any, Any]:
    return image.reshape(-1, 1, 1, 1), xp.arange(channels).reshape(1, -1, 1, 1)


def _roi_pool(xp: Any, attrs: Attrs, data: Any, rois: Any) -> Any:
    return _roi_pick(xp, attrs, data, data, rois)


def _roi_pick(xp: Any, attrs: Attrs, values: Any, data: Any, rois: Any) -> Any:
    """`values` where `data` has the maxima of the cells."""
    image, found, filled = _pooled(xp, attrs, data, rois)
    flat = values.reshape(*values.shape[:2], -1)
    return flat[(*_place(xp, image, values.shape[1]), found)] * filled


def _roi_backward(xp: Any, attrs: Attrs, head: Any, data: Any, rois: Any) -> Any:
    image, found, filled = _pooled(xp, attrs, data, rois)
    n, channels, height, width = data.shape
    images, channel = _place(xp, image, channels)
    index = ((images * channels + channel) * (height * width) + found).reshape(-1)
    return add_rows(xp, n * channels * height * width, index, (head * filled).reshape(-1)).reshape(data.shape)


def _settings(attrs: Attrs, names: tuple[Attr, ...]) -> dict[str, Any]:
    return {a.name: getattr(attrs, a.name) for a in names}


def _roi_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_ROIPooling(heads[0], *node.inputs, **_settings(node.attrs, _POOL)), None]


def _roi_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._roi_pool_at_max(heads[0], *node.inputs[1:], **_settings(node.attrs, _POOL)), None, None]


def _roi_pick_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_ROIPooling(heads[0], *node.inputs[1:], **_settings(node.attrs, _POOL)), None, None]


# -- ROIAlign: rows @ image @ columns.T for each region ----------------------------------------------------------------


def _weights(xp: Any, attrs: Attrs, low: Any, high: Any, cells: int, extent: int, dtype: Any) -> Any:
    """How much each of `extent` pixels counts in each cell of the spans [low, high]: (regions, cells, extent)."""
    scaled_low, scaled_high = low * attrs.spatial_scale, high * attrs.spatial_scale
    if attrs.aligned:
        scaled_low, span = scaled_low - 0.5, scaled_high - scaled_low
    else:
        span = xp.maximum(scaled_high - scaled_low, 1.0)
    cell = span / cells
    if attrs.sample_ratio > 0:
        counts, most = xp.full(cell.shape, attrs.sample_ratio), attrs.sample_ratio
    else:
        counts = xp.ceil(cell).astype(xp.int64)
        most = max(int(counts.max().item()), 1) if counts.size else 1
    first = scaled_low[:, None] + xp.arange(cells) * cell[:, None]
    pixels = xp.arange(extent)
    total = xp.zeros((low.shape[0], cells, extent))
    for sample in range(most):
        position = first + ((sample + 0.5) * cell / xp.maximum(counts, 1))[:, None]
        used = (position >= -1) & (position <= extent) & (sample < counts)[:, None]
        position = xp.clip(position, 0, extent - 1)
        total += xp.maximum(1 - xp.abs(position[:, :, None] - pixels), 0) * used[:, :, None]
    return (total / xp.maximum(counts, 1)[:, None, None]).astype(dtype)


def _aligned_weights(xp: Any, attrs: Attrs, data: Any, rois: Any) -> tuple[Any, Any, Any]:
    """The images (regions,) and the weights of rows and columns; a negative image gives zeros."""
    cells = attrs.pooled_size
    bounds = rois[:, 1:].astype(xp.float64)
    image = rois[:, 0].astype(xp.int64)
    rows = _weights(xp, attrs, bounds[:, 1], bounds[:, 3], cells[0], data.shape[2], data.dtype)
    columns = _weights(xp, attrs, bounds[:, 0], bounds[:, 2], cells[1], data.shape[3], data.dtype)
    return xp.maximum(image, 0), rows * (image >= 0)[:, None, None], columns


def _chunks(count: int, elements: int) -> list[slice]:
    step = max(1, _CHUNK_ELEMENTS // max(1, elements))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def _align(xp: Any, attrs: Attrs, data: Any, rois: Any) -> Any:
    (x,) = widen(xp, data)
    image, rows, columns = _aligned_weights(xp, attrs, x, rois)
    regions, channels, (height, width) = rois.shape[0], data.shape[1], attrs.pooled_size
    result = xp.empty((regions, channels, height, width), dtype=x.dtype)
    for part in _chunks(regions, math.prod(data.shape[1:])):
        along = xp.matmul(x[image[part]], columns[part].swapaxes(1, 2)[:, None])
        result[part] = xp.matmul(rows[part][:, None], along)
    if attrs.position_sensitive:
        result = _own_cells(xp, result)
    return narrow(result, data)


def _own_cells(xp: Any, result: Any) -> Any:
    """Of channels (c, rows, columns) each cell's own: (regions, c, rows, columns)."""
    regions, channels, height, width = result.shape
    split = result.reshape(regions, channels // (height * width), height, width, height, width)
    i, j = xp.arange(height)[:, None], xp.arange(width)
    return split[:, :, i, j, i, j]


def _all_cells(xp: Any, head: Any) -> Any:
    """The adjoint of `_own_cells`."""
    regions, channels, height, width = head.shape
    split = xp.zeros((regions, channels, height, width, height, width), dtype=head.dtype)
    i, j = xp.arange(height)[:, None], xp.arange(width)
    split[:, :, i, j, i, j] = head
    return split.reshape(regions, channels * height * width, height, width)


def _align_backward(xp: Any, attrs: Attrs, head: Any, data: Any, rois: Any) -> Any:
    (h,) = widen(xp, head)
    if attrs.position_sensitive:
        h = _all_cells(xp, h)
    (x,) = widen(xp, data)
    image, rows, columns = _aligned_weights(xp, attrs, x, rois)
    result = xp.zeros(data.shape, dtype=h.dtype)
    for part in _chunks(rois.shape[0], math.prod(data.shape[1:])):
        share = xp.matmul(xp.matmul(rows[part].swapaxes(1, 2)[:, None], h[part]), columns[part][:, None])
        result += add_rows(xp, data.shape[0], image[part], share)
    return narrow(result, head)


def _align_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_ROIAlign(heads[0], *node.inputs, **_settings(node.attrs, _ALIGN)), None]


def _align_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._contrib_ROIAlign(heads[0], node.inputs[2], **_settings(node.attrs, _ALIGN)), None, None]


def _like(position: int) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        return ins, [unify(ins[position], outs[0])]

    return infer


_ROIS = [[0, 0.3, 1.2, 5.1, 6.4], [1, 2.0, 0.0, 7.0, 3.0], [0, 4.1, 4.2, 4.4, 4.5]]
_TWO: dict[str, Any] = {"pooled_size": (2, 3), "spatial_scale": 0.7}

OPERATORS = (
    OpDef(
        "ROIPooling",
        _roi_pool,
        inputs=("data", "rois"),
        attrs=_POOL,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 2,
        grad=_roi_grad,
        aliases=("_npx_roi_pooling",),
        doc="""The maxima of data (n, channels, height, width) over `pooled_size` cells of each region: (regions,
        channels, rows, columns). `rois` rows are image, x1, y1, x2, y2, times `spatial_scale` rounded to
        pixels, both ends included.""",
        samples=(
            Sample(((2, 2, 8, 8), (3, 5)), _TWO, values={1: _ROIS}, nograd=(1,)),
            Sample(
                ((1, 1, 1, 1), (1, 5)),
                {"pooled_size": (1, 1), "spatial_scale": 1.0},
                values={1: [[0, 0, 0, 0, 0]]},
                nograd=(1,),
            ),
            Sample(((2, 8, 8), (3, 5)), _TWO, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_ROIPooling",
        _roi_backward,
        inputs=("head", "data", "rois"),
        attrs=_POOL,
        infer_shape=_like(1),
        infer_dtype=same_floating,
        grad=_roi_backward_grad,
        doc="The gradient of ROIPooling: each head at the first maximum of its cell.",
        samples=(Sample(((3, 2, 2, 3), (2, 2, 8, 8), (3, 5)), _TWO, values={2: _ROIS}, nograd=(1, 2)),),
    ),
    OpDef(
        "_roi_pool_at_max",
        _roi_pick,
        inputs=("values", "data", "rois"),
        attrs=_POOL,
        infer_shape=lambda attrs, ins, outs: (ins, _infer_shape(attrs, ins[1:], outs)[1]),
        infer_dtype=same_floating,
        grad=_roi_pick_grad,
        doc="`values` where ROIPooling finds the maxima of `data`.",
        samples=(Sample(((2, 2, 8, 8), (2, 2, 8, 8), (3, 5)), _TWO, values={2: _ROIS}, nograd=(1, 2)),),
    ),
    OpDef(
        "_contrib_ROIAlign",
        _align,
        inputs=("data", "rois"),
        attrs=_ALIGN,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_align_grad,
        doc="""Averages of interpolated samples over `pooled_size` cells of each region: (regions, channels, rows,
        columns).

        `rois` rows are image, x1, y1, x2, y2, scaled but not rounded; `sample_ratio` samples a side and
        cell, or as many as the cell has pixels. `aligned` moves by half a pixel; `position_sensitive` gives
        each cell channels of its own.""",
        samples=(
            Sample(((2, 6, 8, 8), (3, 5)), {**_TWO, "sample_ratio": 2}, values={1: _ROIS}, nograd=(1,)),
            Sample(((2, 2, 8, 8), (3, 5)), _TWO, values={1: _ROIS}, nograd=(1,)),
            Sample(
                ((2, 12, 8, 8), (3, 5)),
                {**_TWO, "position_sensitive": True, "aligned": True},
                values={1: _ROIS},
                nograd=(1,),
            ),
            Sample(((2, 2, 8, 8), (0, 5)), _TWO, nograd=(1,)),
            Sample(((2, 2, 8, 8), (3, 4)), _TWO, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_ROIAlign",
        _align_backward,
        inputs=("head", "data", "rois"),
        attrs=_ALIGN,
        infer_shape=_like(1),
        infer_dtype=same_floating,
        grad=_align_backward_grad,
        doc="The gradient of ROIAlign for its data (of which only the shape matters).",
        samples=(Sample(((3, 2, 2, 3), (2, 2, 8, 8), (3, 5)), _TWO, values={2: _ROIS}, nograd=(2,)),),
    ),
)
