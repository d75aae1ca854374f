"""contrib.Proposal and MultiProposal: candidate regions of a region proposal network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.boxes import suppress
from autohybrid.tensor.opdef import OpDef, Sample, Shape, Shapes, zero_gradient
from autohybrid.tensor.shapes import require_known, same_floating, unify

_ATTRS = (
    Attr("rpn_pre_nms_top_n", "int", 6000),
    Attr("rpn_post_nms_top_n", "int", 300),
    Attr("threshold", "float", 0.7),
    Attr("rpn_min_size", "int", 16),
    Attr("scales", "floats", (4.0, 8.0, 16.0, 32.0)),
    Attr("ratios", "floats", (0.5, 1.0, 2.0)),
    Attr("feature_stride", "int", 16),
    Attr("output_score", "bool", False),
    Attr("iou_loss", "bool", False),
)


def _infer(images: int | None) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        require_known(("cls_prob",), ins[:1])
        scores = ins[0]
        assert scores is not None
        anchors = len(attrs.scales) * len(attrs.ratios)
        if len(scores) != 4 or scores[1] not in (2 * anchors, -1):
            raise MXNetError(
                f"`cls_prob` must have shape (n, {2 * anchors}, height, width) for {len(attrs.scales)} scales and "
                f"{len(attrs.ratios)} ratios, got {scores}"
            )
        if images is not None and scores[0] not in (images, -1):
            raise MXNetError(f"Proposal takes one image, got {scores[0]}; use MultiProposal")
        known = [scores, unify(ins[1], (scores[0], 4 * anchors, *scores[2:])), unify(ins[2], (scores[0], 3))]
        rows = -1 if scores[0] == -1 else scores[0] * attrs.rpn_post_nms_top_n
        return known, [unify((rows, 5), outs[0]), unify((rows, 1), outs[1])]

    return infer


def _base_anchors(attrs: Attrs) -> list[tuple[float, float, float, float]]:
    """The anchors of one cell, for each ratio all scales; sizes are rounded as the first implementations did."""
    stride = attrs.feature_stride
    center = 0.5 * (stride - 1)
    anchors = []
    for ratio in attrs.ratios:
        width = math.floor(math.sqrt(math.floor(stride * stride / ratio)) + 0.5)
        height = math.floor(width * ratio + 0.5)
        for scale in attrs.scales:
            half_width, half_height = 0.5 * (width * scale - 1), 0.5 * (height * scale - 1)
            anchors.append((center - half_width, center - half_height, center + half_width, center + half_height))
    return anchors


def _anchors(xp: Any, attrs: Attrs, height: int, width: int) -> Any:
    """(height, width, anchors, 4)."""
    base = xp.stack([xp.stack([xp.full((), v) for v in anchor]) for anchor in _base_anchors(attrs)])
    x, y = xp.arange(width) * attrs.feature_stride, xp.arange(height) * attrs.feature_stride
    columns, rows = xp.broadcast_to(x, (height, width)), xp.broadcast_to(y[:, None], (height, width))
    return xp.stack([columns, rows, columns, rows], axis=-1)[:, :, None] + base


def _moved(xp: Any, attrs: Attrs, anchors: Any, moves: Any) -> Any:
    """The boxes that the predictions make of the anchors; pixels at both ends belong to a box."""
    if attrs.iou_loss:
        return anchors + moves
    size = anchors[..., 2:] - anchors[..., :2] + 1
    center = anchors[..., :2] + 0.5 * (size - 1) + moves[..., :2] * size
    half = 0.5 * (xp.exp(moves[..., 2:]) * size - 1)
    return xp.concatenate([center - half, center + half], axis=-1)


def _kernel(xp: Any, attrs: Attrs, scores: Any, moves: Any, info: Any) -> tuple[Any, Any]:
    n, doubled, height, width = scores.shape
    count = doubled // 2 * height * width
    score = scores[:, doubled // 2 :].transpose(0, 2, 3, 1).reshape(n, count)
    moves = moves.reshape(n, doubled // 2, 4, height, width).transpose(0, 3, 4, 1, 2)
    boxes = _moved(xp, attrs, _anchors(xp, attrs, height, width)[None], moves).reshape(n, count, 4)
    limits = xp.stack([info[:, 1], info[:, 0], info[:, 1], info[:, 0]], axis=-1)[:, None] - 1
    boxes = xp.maximum(xp.minimum(boxes, limits), 0)
    cells = (info[:, :2] / attrs.feature_stride).astype(xp.int64)[:, :, None, None]
    outside = (xp.arange(height)[:, None] >= cells[:, 0]) | (xp.arange(width) >= cells[:, 1])
    score = xp.where(xp.repeat(outside.reshape(n, -1), doubled // 2, axis=1), -1, score)
    least = attrs.rpn_min_size * info[:, 2].reshape(n, 1, 1)
    small = (boxes[..., 2:] - boxes[..., :2] + 1 < least).any(axis=-1, keepdims=True)
    grown = xp.concatenate([boxes[..., :2] - least / 2, boxes[..., 2:] + least / 2], axis=-1)
    boxes, score = xp.where(small, grown, boxes), xp.where(small[..., 0], -1, score)
    return _selected(xp, attrs, boxes, score)


def _selected(xp: Any, attrs: Attrs, boxes: Any, score: Any) -> tuple[Any, Any]:
    """The best boxes that do not overlap, repeated in turn until there are `rpn_post_nms_top_n`."""
    n, count = score.shape
    before = min(attrs.rpn_pre_nms_top_n, count) if attrs.rpn_pre_nms_top_n > 0 else count
    order = xp.argsort(-score, axis=1, kind="stable")[:, :before]
    boxes = xp.take_along_axis(boxes, order[:, :, None], axis=1)
    score = xp.take_along_axis(score, order, axis=1)
    ends = xp.concatenate([boxes[..., :2], boxes[..., 2:] + 1], axis=-1)
    alive = suppress(xp, ends, xp.ones(score.shape, dtype=bool), None, attrs.threshold, before)
    front = xp.argsort(~alive, axis=1, kind="stable")
    kept = xp.minimum(alive.sum(axis=1), min(attrs.rpn_post_nms_top_n, before))[:, None]
    chosen = xp.take_along_axis(front, xp.arange(attrs.rpn_post_nms_top_n) % kept, axis=1)
    regions = xp.take_along_axis(boxes, chosen[:, :, None], axis=1)
    image = xp.broadcast_to(xp.arange(n)[:, None, None], (*chosen.shape, 1))
    rows = xp.concatenate([image, regions], axis=-1).reshape(-1, 5).astype(boxes.dtype)
    return rows.astype(score.dtype), xp.take_along_axis(score, chosen, axis=1).reshape(-1, 1)


def _record(name: str, images: int | None, doc: str) -> OpDef:
    small: dict[str, Any] = {"scales": (1.0, 2.0), "ratios": (0.5, 1.0), "rpn_min_size": 4, "rpn_post_nms_top_n": 5}
    n = images or 2
    return OpDef(
        f"_contrib_{name}",
        _kernel,
        inputs=("cls_prob", "bbox_pred", "im_info"),
        attrs=_ATTRS,
        outputs=("output", "score"),
        visible=lambda attrs: 2 if attrs.output_score else 1,
        infer_shape=_infer(images),
        infer_dtype=same_floating,
        grad=zero_gradient,
        doc=doc,
        samples=(
            Sample(((n, 8, 3, 4), (n, 16, 3, 4), (n, 3)), small, low=0, high=1, values={2: [[48, 64, 1]] * n}),
            Sample(((n, 7, 3, 4), (n, 16, 3, 4), (n, 3)), small, error="MXNetError"),
        ),
    )


OPERATORS = (
    _record(
        "Proposal",
        1,
        """The regions (rpn_post_nms_top_n, 5), rows of 0 and a box in pixels, that scores (1, 2 anchors,
        height, width) and moves (1, 4 anchors, height, width) propose for an image of `im_info` (1, 3):
        height, width, scale.""",
    ),
    _record(
        "MultiProposal", None, """Proposal for a batch of images: (n * rpn_post_nms_top_n, 5), rows of image and box."""
    ),
)
