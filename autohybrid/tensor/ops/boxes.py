"""contrib.box_iou, box_nms, bipartite_matching, box_encode and box_decode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.boxes import match_greedily, overlaps, suppress, to_centers, to_corners
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import require_known, same_floating, unify

_FORMATS = ("center", "corner")


def _boxes(name: str, shape: tuple[int, ...]) -> None:
    if not shape or shape[-1] not in (4, -1):
        raise MXNetError(f"the last axis of `{name}` must hold the 4 coordinates of a box, got shape {shape}")


def _iou_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("lhs", "rhs"), ins)
    lhs, rhs = ins
    assert lhs is not None and rhs is not None
    _boxes("lhs", lhs)
    _boxes("rhs", rhs)
    return ins, [unify((*lhs[:-1], *rhs[:-1]), outs[0])]


def _iou(xp: Any, attrs: Attrs, lhs: Any, rhs: Any) -> Any:
    center = attrs.format == "center"
    a = to_corners(xp, lhs, center).reshape(-1, 1, 4)
    b = to_corners(xp, rhs, center).reshape(1, -1, 4)
    return overlaps(xp, a, b).reshape(*lhs.shape[:-1], *rhs.shape[:-1])


def _nms_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    if len(data) < 2:
        raise MXNetError(f"data must have at least 2 dimensions (..., boxes, columns), got {data}")
    if data[-1] != -1:
        last = {"coord_start": attrs.coord_start + 3, "score_index": attrs.score_index, "id_index": attrs.id_index}
        for name, column in last.items():
            if not (-1 if name == "id_index" else 0) <= column < data[-1]:
                raise MXNetError(f"`{name}` {getattr(attrs, name)} needs column {column}, data has {data[-1]} columns")
    taken = range(attrs.coord_start, attrs.coord_start + 4)
    if attrs.score_index in taken or attrs.id_index in taken or attrs.id_index == attrs.score_index:
        raise MXNetError(
            f"`coord_start` {attrs.coord_start} (4 columns), `score_index` {attrs.score_index} and `id_index` "
            f"{attrs.id_index} must name different columns"
        )
    return [data], [data, data[:-1]]


def _nms(xp: Any, attrs: Attrs, data: Any) -> tuple[Any, Any]:
    """The output and, for each row of it, the row of data it came from (-1 where filled)."""
    rows, columns = data.shape[-2:]
    x = data.reshape(-1, rows, columns)
    if attrs.topk == 0:  # the data as they are, as in MXNet
        return data.copy(), xp.broadcast_to(xp.arange(rows, dtype=data.dtype), data.shape[:-1]).copy()
    scores = x[:, :, attrs.score_index]
    valid = scores > attrs.valid_thresh
    if attrs.id_index >= 0:
        valid &= x[:, :, attrs.id_index] != attrs.background_id
    order = xp.argsort(xp.where(valid, -scores, xp.inf), axis=1, kind="stable")
    sorted_rows = xp.take_along_axis(x, order[:, :, None], axis=1)
    alive = xp.take_along_axis(valid, order, axis=1)
    if attrs.topk >= 0:
        alive &= xp.arange(rows) < attrs.topk
    coordinates = slice(attrs.coord_start, attrs.coord_start + 4)
    corners = to_corners(xp, sorted_rows[:, :, coordinates], attrs.in_format == "center")
    classes = None if attrs.force_suppress or attrs.id_index < 0 else sorted_rows[:, :, attrs.id_index]
    if attrs.topk < 0:
        alive = suppress(xp, corners, alive, classes, attrs.overlap_thresh, rows)
    else:  # behind the best `topk` none is alive
        best = slice(0, attrs.topk)
        near = None if classes is None else classes[:, best]
        alive[:, best] = suppress(xp, corners[:, best], alive[:, best], near, attrs.overlap_thresh, attrs.topk)
    front = xp.argsort(~alive, axis=1, kind="stable")
    alive = xp.take_along_axis(alive, front, axis=1)
    result = xp.take_along_axis(sorted_rows, front[:, :, None], axis=1)
    if attrs.in_format != attrs.out_format:
        moved = corners if attrs.out_format == "corner" else to_centers(xp, corners)
        result[:, :, coordinates] = xp.take_along_axis(moved, front[:, :, None], axis=1)
    result = xp.where(alive[:, :, None], result, data.dtype.type(-1))
    source = xp.where(alive, xp.take_along_axis(order, front, axis=1), -1)
    return result.reshape(data.shape), source.reshape(data.shape[:-1]).astype(data.dtype)


def _nms_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_box_nms(heads[0], F.BlockGrad(node.outputs[1]))


def _nms_backward(xp: Any, attrs: Attrs, head: Any, source: Any) -> Any:
    rows = head.shape[-2]
    index = source.reshape(-1, rows).astype(xp.int64)
    h = head.reshape(-1, rows, head.shape[-1])
    came_from = (index[:, :, None] == xp.arange(rows)).astype(head.dtype)
    return xp.matmul(came_from.swapaxes(1, 2), h).reshape(head.shape)


def _nms_pick(xp: Any, attrs: Attrs, data: Any, source: Any) -> Any:
    rows = data.shape[-2]
    index = source.reshape(-1, rows).astype(xp.int64)
    found = xp.take_along_axis(data.reshape(-1, rows, data.shape[-1]), xp.maximum(index, 0)[:, :, None], axis=1)
    return (found * (index >= 0)[:, :, None]).reshape(data.shape)


def _first(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[0], outs[0])]


def _matching_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if data is None:
        return ins, outs
    if len(data) < 2:
        raise MXNetError(f"data must have at least 2 dimensions (..., rows, columns), got {data}")
    return ins, [unify(data[:-1], outs[0]), unify((*data[:-2], data[-1]), outs[1])]


def _matching(xp: Any, attrs: Attrs, data: Any) -> tuple[Any, Any]:
    n, m = data.shape[-2:]
    scores = data.reshape(-1, n, m)
    allowed = scores < attrs.threshold if attrs.is_ascend else scores > attrs.threshold
    steps = min(n, m) if attrs.topk <= 0 else min(n, m, attrs.topk + 1)  # MXNet stops after the pair behind `topk`
    rows, columns = match_greedily(xp, -scores if attrs.is_ascend else scores, allowed, steps)
    return (
        rows.reshape(data.shape[:-1]).astype(data.dtype),
        columns.reshape(*data.shape[:-2], m).astype(data.dtype),
    )


def _encode_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("samples", "matches", "anchors", "refs", "means", "stds"), ins)
    samples, _, anchors, refs = ins[:4]
    assert samples is not None and anchors is not None and refs is not None
    _boxes("anchors", anchors)
    _boxes("refs", refs)
    unify(samples, anchors[:-1])
    return ins, [unify((*samples, 4), out) for out in outs]


def _encode(
    xp: Any, attrs: Attrs, samples: Any, matches: Any, anchors: Any, refs: Any, means: Any, stds: Any
) -> tuple[Any, Any]:
    positive = (samples > 0.5)[:, :, None]
    matched = xp.take_along_axis(refs, matches.astype(xp.int64)[:, :, None], axis=1)
    a, g = to_centers(xp, anchors), to_centers(xp, matched)
    shift = (g[..., :2] - a[..., :2]) / a[..., 2:]
    ratio = xp.log(xp.maximum(g[..., 2:], 1e-12) / xp.maximum(a[..., 2:], 1e-12))
    targets = (xp.concatenate([shift, ratio], axis=-1) - means) / stds
    masks = xp.broadcast_to(positive, targets.shape)
    return xp.where(masks, targets, 0).astype(anchors.dtype, copy=False), masks.astype(anchors.dtype)


def _decode_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data", "anchors"), ins)
    data, anchors = ins
    assert data is not None and anchors is not None
    _boxes("data", data)
    _boxes("anchors", anchors)
    if len(data) != 3 or len(anchors) != 3 or (-1 not in (anchors[0], data[0]) and anchors[0] not in (1, data[0])):
        raise MXNetError(
            f"data must have shape (batch, boxes, 4) and `anchors` (1, boxes, 4), got {data} and {anchors}"
        )
    unify(data[1:2], anchors[1:2])
    return ins, [unify(data, outs[0])]


def _decode(xp: Any, attrs: Attrs, data: Any, anchors: Any) -> Any:
    a = anchors if attrs.format == "center" else to_centers(xp, anchors)
    scale = data.dtype.type
    width, height = data[..., 2] * scale(attrs.std2), data[..., 3] * scale(attrs.std3)
    if attrs.clip > 0:
        width, height = xp.minimum(width, scale(attrs.clip)), xp.minimum(height, scale(attrs.clip))
    x = data[..., 0] * scale(attrs.std0) * a[..., 2] + a[..., 0]
    y = data[..., 1] * scale(attrs.std1) * a[..., 3] + a[..., 1]
    size = xp.stack([xp.exp(width) * a[..., 2], xp.exp(height) * a[..., 3]], axis=-1)
    return to_corners(xp, xp.concatenate([xp.stack([x, y], axis=-1), size], axis=-1), True)


_NMS_DATA = [
    [0, 0.5, 0.1, 0.1, 0.2, 0.2],
    [1, 0.4, 0.1, 0.1, 0.2, 0.2],
    [0, 0.3, 0.1, 0.1, 0.14, 0.14],
    [2, 0.6, 0.5, 0.5, 0.7, 0.8],
]
_CORNERS = [[0.1, 0.1, 0.5, 0.6], [0.2, 0.3, 0.9, 0.8], [0.0, 0.0, 0.3, 0.2]]

OPERATORS = (
    OpDef(
        "_contrib_box_iou",
        _iou,
        inputs=("lhs", "rhs"),
        attrs=(Attr("format", "enum", "corner", _FORMATS),),
        infer_shape=_iou_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        doc="Intersection over union of each box of `lhs` (..., 4) with each of `rhs` (..., 4).",
        samples=(
            Sample(((3, 4), (3, 4)), values={0: _CORNERS, 1: _CORNERS}),
            Sample(((2, 1, 4), (3, 4)), {"format": "center"}),
            Sample(((0, 4), (3, 4))),
            Sample(((3, 5), (3, 4)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_box_nms",
        _nms,
        attrs=(
            Attr("overlap_thresh", "float", 0.5),
            Attr("valid_thresh", "float", 0.0),
            Attr("topk", "int", -1),
            Attr("coord_start", "int", 2),
            Attr("score_index", "int", 1),
            Attr("id_index", "int", -1),
            Attr("background_id", "int", -1),
            Attr("force_suppress", "bool", False),
            Attr("in_format", "enum", "corner", _FORMATS),
            Attr("out_format", "enum", "corner", _FORMATS),
        ),
        outputs=("output0", "output1"),
        visible=lambda attrs: 1,
        infer_shape=_nms_shape,
        infer_dtype=same_floating,
        grad=_nms_grad,
        aliases=("_contrib_box_non_maximum_suppression",),
        doc="""Non-maximum suppression of rows (class, score, box...) of data (..., boxes, columns): what is kept,
        best first, then rows of -1; with `topk=0` the data unchanged. Boxes of different classes (`id_index`) do
        not suppress each other unless `force_suppress`.""",
        samples=(
            Sample(((4, 6),), {"overlap_thresh": 0.1, "id_index": 0, "force_suppress": True}, values={0: _NMS_DATA}),
            Sample(
                ((1, 4, 6),),
                {"overlap_thresh": 0.1, "id_index": 0, "background_id": 0, "topk": 2},
                values={0: [_NMS_DATA]},
                nograd=(0,),
            ),
            Sample(((4, 6),), {"topk": 0}, values={0: _NMS_DATA}),
            Sample(((1, 6),)),
            Sample(((0, 4, 6),)),
            Sample(((3, 2),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_box_nms",
        _nms_backward,
        inputs=("head", "source"),
        infer_shape=_first,
        grad=lambda F, node, heads: [F._box_nms_pick(heads[0], node.inputs[1]), None],
        doc="The gradient of box_nms: each row of the head at the row of data it came from.",
        samples=(Sample(((3, 2), (3,)), values={1: [2, 0, -1]}, nograd=(1,)),),
    ),
    OpDef(
        "_box_nms_pick",
        _nms_pick,
        inputs=("data", "source"),
        infer_shape=_first,
        grad=lambda F, node, heads: [F._backward_box_nms(heads[0], node.inputs[1]), None],
        doc="The rows of data that `source` names, zeros where it is -1.",
        samples=(Sample(((3, 2), (3,)), values={1: [2, 0, -1]}, nograd=(1,)),),
    ),
    OpDef(
        "_contrib_bipartite_matching",
        _matching,
        attrs=(Attr("is_ascend", "bool", False), Attr("threshold", "float"), Attr("topk", "int", -1)),
        outputs=("output0", "output1"),
        infer_shape=_matching_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        doc="""Pairs rows and columns of scores (..., rows, columns) greedily, best first, beyond `threshold`: for
        each row its column and for each column its row, -1 for none. A positive `topk` stops after topk + 1
        pairs, as MXNet does.""",
        samples=(
            Sample(((2, 3, 4),), {"threshold": 0.1}),
            Sample(((3, 4),), {"threshold": 0.3, "is_ascend": True, "topk": 2}),
            Sample(((1, 1),), {"threshold": 2.0}),
            Sample(((0, 3, 4),), {"threshold": 0.1}),
            Sample(((4,),), {"threshold": 0.1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_box_encode",
        _encode,
        inputs=("samples", "matches", "anchors", "refs", "means", "stds"),
        outputs=("output0", "output1"),
        infer_shape=_encode_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        doc="""Targets and masks (batch, boxes, 4) that move `anchors` to their matches among `refs` (both corner
        boxes), where `samples` is 1: center shifts and logarithms of sizes, less `means`, by `stds`.""",
        samples=(
            Sample(
                ((1, 3), (1, 3), (1, 3, 4), (1, 3, 4), (4,), (4,)),
                values={0: [[1, 0, 1]], 1: [[0, 1, 2]], 2: [_CORNERS], 3: [_CORNERS[::-1]], 5: [0.1, 0.1, 0.2, 0.2]},
            ),
            Sample(((1, 3), (1, 3), (1, 3, 5), (1, 3, 4), (4,), (4,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_box_decode",
        _decode,
        inputs=("data", "anchors"),
        attrs=(
            *[Attr(f"std{i}", "float", 1.0) for i in range(4)],
            Attr("clip", "float", -1.0),
            Attr("format", "enum", "center", _FORMATS),
        ),
        infer_shape=_decode_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        doc="""Corner boxes from the encoded `data` (batch, boxes, 4) and `anchors` (1, boxes, 4); the inverse of
        box_encode.""",
        samples=(
            Sample(((2, 3, 4), (1, 3, 4)), {"std0": 0.1, "std2": 0.2, "clip": 0.5}),
            Sample(((2, 3, 4), (1, 3, 4)), {"format": "corner"}, values={1: [_CORNERS]}),
            Sample(((0, 3, 4), (1, 3, 4))),
            Sample(((2, 3, 4), (2, 3)), error="MXNetError"),
        ),
    ),
)
