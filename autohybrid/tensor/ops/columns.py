"""im2col and col2im: the windows of a convolution as columns, and columns added up where they came from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops.convolution import GEOMETRY, window_of
from autohybrid.tensor.shapes import is_known, same_floating, unify
from autohybrid.tensor.windows import from_columns, to_columns


def _im2col_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    window, data = window_of(attrs), ins[0]
    if data is None:
        return ins, outs
    if len(data) != len(window.kernel) + 2:
        raise MXNetError(f"data must have {len(window.kernel) + 2} dimensions for `kernel` {attrs.kernel}, got {data}")
    positions = window.output_extents(data[2:])
    count = -1 if -1 in positions else math.prod(positions)
    rows = -1 if data[1] == -1 else data[1] * math.prod(window.kernel)
    return ins, [unify((data[0], rows, count), outs[0])]


def _im2col(xp: Any, attrs: Attrs, data: Any) -> Any:
    window = window_of(attrs)
    return xp.array(to_columns(xp, data, window, window.output_extents(data.shape[2:])))


def _geometry(attrs: Attrs) -> dict[str, Any]:
    return {attr.name: getattr(attrs, attr.name) for attr in GEOMETRY}


def _im2col_backward(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    window, spatial = window_of(attrs), data.shape[2:]
    return xp.array(from_columns(xp, head, window, window.output_extents(spatial), data.shape[1], spatial))


def _col2im_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    window, columns = window_of(attrs), ins[0]
    spatial = attrs.output_size
    if len(spatial) != len(window.kernel):
        raise MXNetError(f"`output_size` {spatial} and `kernel` {attrs.kernel} must have the same number of entries")
    if columns is None:
        return ins, outs
    size, count = math.prod(window.kernel), math.prod(window.output_extents(spatial))
    if len(columns) != 3:
        raise MXNetError(f"data must have 3 dimensions (n, channels * kernel, positions), got {columns}")
    if is_known(columns) and (columns[1] % size or columns[2] != count):
        raise MXNetError(f"data of shape {columns} must have a multiple of {size} rows and {count} columns")
    return ins, [unify((columns[0], -1 if columns[1] == -1 else columns[1] // size, *spatial), outs[0])]


def _col2im(xp: Any, attrs: Attrs, data: Any) -> Any:
    window, spatial = window_of(attrs), attrs.output_size
    channels = data.shape[1] // math.prod(window.kernel)
    return xp.array(from_columns(xp, data, window, window.output_extents(spatial), channels, spatial))


def _second(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[1], outs[0])]


def _im2col_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.im2col(heads[0], **_geometry(node.attrs)), None]


_CASE = {"kernel": (3, 2), "stride": (2, 1), "dilate": (1, 2), "pad": (1, 0)}

OPERATORS = (
    OpDef(
        "im2col",
        _im2col,
        attrs=GEOMETRY,
        infer_shape=_im2col_shape,
        infer_dtype=same_floating,
        grad=lambda F, node, heads: F._backward_im2col(heads[0], node.inputs[0], **_geometry(node.attrs)),
        doc="The windows of data (n, channels, *spatial) as columns: (n, channels * kernel, positions).",
        samples=(
            Sample(((2, 2, 5, 6),), _CASE),
            Sample(((1, 1, 1),), {"kernel": 1}),
            Sample(((0, 2, 4),), {"kernel": 2}),
            Sample(((2, 2, 5),), {"kernel": (3, 3)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_im2col",
        _im2col_backward,
        inputs=("head", "data"),
        attrs=GEOMETRY,
        infer_shape=_second,
        grad=_im2col_backward_grad,
        doc="The gradient of im2col (only the shape of `data` matters).",
        samples=(Sample(((2, 12, 12), (2, 2, 5, 6)), _CASE),),
    ),
    OpDef(
        "col2im",
        _col2im,
        attrs=(Attr("output_size", "shape"), *GEOMETRY),
        infer_shape=_col2im_shape,
        infer_dtype=same_floating,
        grad=lambda F, node, heads: F.im2col(heads[0], **_geometry(node.attrs)),
        doc="""Columns (n, channels * kernel, positions) added up where im2col takes them from: (n, channels,
        *output_size).""",
        samples=(
            Sample(((2, 12, 12),), {**_CASE, "output_size": (5, 6)}),
            Sample(((0, 2, 3),), {"kernel": 2, "output_size": 4}),
            Sample(((2, 5, 9),), {"kernel": (2, 2), "output_size": (4, 4)}, error="MXNetError"),
        ),
    ),
)
