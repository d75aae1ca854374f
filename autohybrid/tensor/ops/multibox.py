"""contrib.MultiBoxPrior, MultiBoxTarget and MultiBoxDetection: the anchors of single shot detectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.boxes import match_greedily, overlaps, suppress, to_centers, to_corners
from autohybrid.tensor.opdef import OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import require_known, same_floating, unify, unify_dim

_VARIANCES = Attr("variances", "floats", (0.1, 0.1, 0.2, 0.2))


def _prior_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = ins[0]
    if data is None:
        return ins, outs
    if len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    if not attrs.sizes or not attrs.ratios:
        raise MXNetError("`sizes` and `ratios` must not be empty")
    count = len(attrs.sizes) + len(attrs.ratios) - 1
    total = -1 if -1 in data[2:] else data[2] * data[3] * count
    return ins, [unify((1, total, 4), outs[0])]


def _prior(xp: Any, attrs: Attrs, data: Any) -> Any:
    height, width = data.shape[2:]
    step_y, step_x = attrs.steps if min(attrs.steps) > 0 else (1 / height, 1 / width)
    y = (xp.arange(height) + attrs.offsets[0]) * step_y
    x = (xp.arange(width) + attrs.offsets[1]) * step_x
    first = math.sqrt(attrs.ratios[0])
    halves = [(s * height / width * first / 2, s / first / 2) for s in attrs.sizes]
    size = attrs.sizes[0]
    halves += [(size * height / width * math.sqrt(r) / 2, size / math.sqrt(r) / 2) for r in attrs.ratios[1:]]
    shape = (height, width, len(halves))
    parts = []
    for sign in (-1, 1):
        half_widths = xp.stack([xp.full((), sign * w) for w, _ in halves])
        half_heights = xp.stack([xp.full((), sign * h) for _, h in halves])
        parts.append(xp.broadcast_to(x[None, :, None] + half_widths, shape))
        parts.append(xp.broadcast_to(y[:, None, None] + half_heights, shape))
    boxes = xp.stack(parts, axis=-1).reshape(1, -1, 4)
    return (xp.clip(boxes, 0, 1) if attrs.clip else boxes).astype(data.dtype)


def _target_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("anchor", "label", "cls_pred"), ins)
    anchor, label, scores = ins
    assert anchor is not None and label is not None and scores is not None
    if len(anchor) != 3 or anchor[2] not in (4, -1):
        raise MXNetError(f"`anchor` must have shape (1, anchors, 4), got {anchor}")
    if len(label) != 3 or (label[2] != -1 and label[2] < 5):
        raise MXNetError(f"`label` must have shape (batch, labels, 5 or more), got {label}")
    if len(scores) != 3:
        raise MXNetError(f"`cls_pred` must have shape (batch, classes, anchors), got {scores}")
    unify_dim(label[0], scores[0], label, scores)
    anchors = unify_dim(anchor[1], scores[2], anchor, scores)
    flat = -1 if anchors == -1 else anchors * 4
    return ins, [unify(s, o) for s, o in zip(((label[0], flat), (label[0], flat), (label[0], anchors)), outs)]


def _target(xp: Any, attrs: Attrs, anchor: Any, label: Any, scores: Any) -> tuple[Any, Any, Any]:
    count = anchor.shape[1]
    valid = xp.cumprod((label[:, :, 0] != -1).astype(xp.int64), axis=1).astype(bool)
    shared = overlaps(xp, anchor[0][None, :, None], label[:, None, :, 1:5])
    shared = xp.where(valid[:, None], shared, -1)
    matched, _ = match_greedily(xp, shared, shared > 1e-6, min(count, label.shape[1]))
    closest, most = shared.argmax(axis=2), shared.max(axis=2)
    if attrs.overlap_threshold > 0:
        near = (matched < 0) & (most > attrs.overlap_threshold)
        matched = xp.where(near, closest, matched)
    positive = matched >= 0
    source = xp.maximum(matched, 0)[:, :, None]
    truth = xp.take_along_axis(label, source, axis=1)
    negative = _negatives(xp, attrs, scores, positive, most)
    classes = xp.where(positive, truth[:, :, 0] + 1, xp.where(negative, 0, attrs.ignore_label))
    any_label = valid[:, :1]
    classes = xp.where(any_label, classes, attrs.ignore_label)
    mask = (positive & any_label)[:, :, None]
    encoded = xp.where(mask, _encoded(xp, attrs, anchor, xp.where(mask, truth[:, :, 1:5], anchor)), 0)
    masks = xp.broadcast_to(mask, encoded.shape)
    flat = (label.shape[0], count * 4)
    dtype = anchor.dtype
    return encoded.reshape(flat).astype(dtype), masks.reshape(flat).astype(dtype), classes.astype(dtype)


def _negatives(xp: Any, attrs: Attrs, scores: Any, positive: Any, most: Any) -> Any:
    """Which anchors count as background: all that are not positive, or with mining the least certain of them."""
    if attrs.negative_mining_ratio <= 0:
        return ~positive
    # MXNet takes `minimum_negative_samples` and does not use it.
    number = (positive.sum(axis=1) * attrs.negative_mining_ratio).astype(xp.int64)
    number = xp.minimum(number, positive.shape[1] - positive.sum(axis=1))
    shifted = xp.exp(scores - scores.max(axis=1, keepdims=True))
    background = shifted[:, 0] / shifted.sum(axis=1)
    eligible = ~positive & (most < attrs.negative_mining_thresh)
    order = xp.argsort(xp.where(eligible, background, xp.inf), axis=1, kind="stable")
    rank = xp.argsort(order, axis=1, kind="stable")
    return eligible & (rank < number[:, None])


def _encoded(xp: Any, attrs: Attrs, anchor: Any, boxes: Any) -> Any:
    a, g = to_centers(xp, anchor), to_centers(xp, boxes)
    shift = (g[..., :2] - a[..., :2]) / a[..., 2:]
    ratio = xp.log(g[..., 2:] / a[..., 2:])
    parts = xp.concatenate([shift, ratio], axis=-1)
    return xp.stack([parts[..., i] / attrs.variances[i] for i in range(4)], axis=-1)


def _detection_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("cls_prob", "loc_pred", "anchor"), ins)
    scores, moves, anchor = ins
    assert scores is not None and moves is not None and anchor is not None
    if len(scores) != 3 or len(moves) != 2 or len(anchor) != 3 or anchor[2] not in (4, -1):
        raise MXNetError(
            "`cls_prob` must have shape (batch, classes, anchors), `loc_pred` (batch, anchors * 4) and `anchor` "
            f"(1, anchors, 4), got {scores}, {moves} and {anchor}"
        )
    unify_dim(scores[0], moves[0], scores, moves)
    anchors = unify_dim(scores[2], anchor[1], scores, anchor)
    if -1 not in (anchors, moves[1]) and moves[1] != 4 * anchors:
        raise MXNetError(f"`loc_pred` of shape {moves} does not hold 4 numbers for each of {anchors} anchors")
    return ins, [unify((scores[0], anchors, 6), outs[0])]


def _detection(xp: Any, attrs: Attrs, scores: Any, moves: Any, anchor: Any) -> Any:
    batch, classes, count = scores.shape
    if attrs.background_id != 0:
        raise MXNetError(f"`background_id` must be 0, the first class, got {attrs.background_id}")
    best = scores[:, 1:].argmax(axis=1) if classes > 1 else xp.zeros((batch, count), dtype=xp.int64)
    score = scores[:, 1:].max(axis=1) if classes > 1 else xp.full((batch, count), -1.0)
    found = score >= attrs.threshold
    boxes = _decoded(xp, attrs, moves.reshape(batch, count, 4), anchor)
    order = xp.argsort(xp.where(found, -score, xp.inf), axis=1, kind="stable")
    columns = xp.concatenate([best[:, :, None].astype(scores.dtype), score[:, :, None], boxes], axis=2)
    in_order = xp.argsort(~found, axis=1, kind="stable")
    if not 0 < attrs.nms_threshold <= 1:
        rows = xp.take_along_axis(columns, in_order[:, :, None], axis=1)
        kept = xp.take_along_axis(found, in_order, axis=1)
        return xp.where(kept[:, :, None], rows, -1).astype(scores.dtype, copy=False)
    rows = xp.take_along_axis(columns, order[:, :, None], axis=1)
    kept = xp.take_along_axis(found, order, axis=1)
    limit = count if attrs.nms_topk <= 0 else min(attrs.nms_topk, count)
    ranked = xp.arange(count) < limit
    labels = rows[:, :, 0]
    own = None if attrs.force_suppress else labels[:, :limit]
    alive = kept & ranked
    alive[:, :limit] = suppress(
        xp, rows[:, :limit, 2:], alive[:, :limit], own, attrs.nms_threshold, limit, inclusive=True
    )
    rows[:, :, 0] = xp.where(alive, labels, -1)
    # Behind `nms_topk` MXNet leaves detections in the order of the anchors, without a class.
    rest = xp.take_along_axis(columns, in_order[:, :, None], axis=1)
    rest[:, :, 0] = -1
    rows = xp.where(ranked[:, None], rows, rest)
    return xp.where(kept[:, :, None], rows, -1).astype(scores.dtype, copy=False)


def _decoded(xp: Any, attrs: Attrs, moves: Any, anchor: Any) -> Any:
    a, v = to_centers(xp, anchor), attrs.variances
    x = moves[..., 0] * v[0] * a[..., 2] + a[..., 0]
    y = moves[..., 1] * v[1] * a[..., 3] + a[..., 1]
    size = [xp.exp(moves[..., 2 + i] * v[2 + i]) * a[..., 2 + i] for i in (0, 1)]
    boxes = to_corners(xp, xp.stack([x, y, *size], axis=-1), True)
    return xp.clip(boxes, 0, 1) if attrs.clip else boxes


_ANCHORS = [[[0.1, 0.1, 0.4, 0.4], [0.3, 0.3, 0.8, 0.9], [0.0, 0.5, 0.2, 0.7]]]
_LABELS = [[[0, 0.1, 0.1, 0.5, 0.4], [2, 0.35, 0.3, 0.8, 0.8], [-1, -1, -1, -1, -1]]]

OPERATORS = (
    OpDef(
        "_contrib_MultiBoxPrior",
        _prior,
        attrs=(
            Attr("sizes", "floats", (1.0,)),
            Attr("ratios", "floats", (1.0,)),
            Attr("clip", "bool", False),
            Attr("steps", "floats", (-1.0, -1.0)),
            Attr("offsets", "floats", (0.5, 0.5)),
        ),
        infer_shape=_prior_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        aliases=("_npx_multibox_prior",),
        doc="""Anchors (1, height * width * (sizes + ratios - 1), 4) as corner boxes in [0, 1]: at each pixel of
        data one for each size with the first ratio, and one for each further ratio with the first size.""",
        samples=(
            Sample(((1, 3, 2, 3),)),
            Sample(((1, 1, 3, 4),), {"sizes": (0.5, 0.25), "ratios": (1, 2, 0.5), "clip": True}),
            Sample(((1, 1, 1, 1),), {"steps": (0.4, 0.5), "offsets": (0.3, 0.6)}),
            Sample(((3, 2),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_MultiBoxTarget",
        _target,
        inputs=("anchor", "label", "cls_pred"),
        attrs=(
            Attr("overlap_threshold", "float", 0.5),
            Attr("ignore_label", "float", -1.0),
            Attr("negative_mining_ratio", "float", -1.0),
            Attr("negative_mining_thresh", "float", 0.5),
            Attr("minimum_negative_samples", "int", 0),
            _VARIANCES,
        ),
        outputs=("loc_target", "loc_mask", "cls_target"),
        infer_shape=_target_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        aliases=("_npx_multibox_target",),
        doc="""Training targets of anchors (1, anchors, 4) for labels (batch, labels, class and box, -1 as
        padding): encoded moves and their mask (batch, anchors * 4), and classes (batch, anchors), 0 for
        background.""",
        samples=(
            Sample(((1, 3, 4), (1, 3, 5), (1, 4, 3)), values={0: _ANCHORS, 1: _LABELS}),
            Sample(((1, 3, 4), (1, 3, 5), (1, 4, 3)), {"negative_mining_ratio": 1.0}, values={0: _ANCHORS, 1: _LABELS}),
            Sample(((1, 3, 4), (1, 3, 4), (1, 4, 3)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_contrib_MultiBoxDetection",
        _detection,
        inputs=("cls_prob", "loc_pred", "anchor"),
        attrs=(
            Attr("clip", "bool", True),
            Attr("threshold", "float", 0.01),
            Attr("background_id", "int", 0),
            Attr("nms_threshold", "float", 0.5),
            Attr("force_suppress", "bool", False),
            _VARIANCES,
            Attr("nms_topk", "int", -1),
        ),
        infer_shape=_detection_shape,
        infer_dtype=same_floating,
        grad=zero_gradient,
        aliases=("_npx_multibox_detection",),
        doc="""Detections (batch, anchors, 6), rows of class, score and corner box, best first, from probabilities
        (batch, classes, anchors), moves (batch, anchors * 4) and anchors; the class of what is suppressed,
        and rows without detection, are -1.""",
        samples=(
            Sample(((1, 4, 3), (1, 12), (1, 3, 4)), low=0, high=1, values={2: _ANCHORS}),
            Sample(
                ((1, 4, 3), (1, 12), (1, 3, 4)),
                {"nms_topk": 2, "force_suppress": True},
                low=0,
                high=1,
                values={2: _ANCHORS},
            ),
            Sample(((1, 4, 3), (1, 11), (1, 3, 4)), error="MXNetError"),
        ),
    ),
)
