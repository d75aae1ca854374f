"""Boxes as arrays (..., 4): formats, overlaps, greedy suppression and matching, on any array library.

Corner boxes are (x1, y1, x2, y2), center boxes (x, y, width, height).
"""

from __future__ import annotations

from typing import Any


def to_corners(xp: Any, boxes: Any, center: bool) -> Any:
    """Boxes in corner format; `center` says that they are given by center and size."""
    if not center:
        return boxes
    half = boxes[..., 2:] / 2
    return xp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def to_centers(xp: Any, boxes: Any) -> Any:
    """Corner boxes by center and size."""
    size = boxes[..., 2:] - boxes[..., :2]
    return xp.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, size], axis=-1)


def overlaps(xp: Any, a: Any, b: Any) -> Any:
    """Intersection over union of corner boxes, broadcast against each other; 0 where there is no area."""
    low, high = xp.maximum(a[..., :2], b[..., :2]), xp.minimum(a[..., 2:], b[..., 2:])
    common = _area(xp, low, high)
    union = _area(xp, a[..., :2], a[..., 2:]) + _area(xp, b[..., :2], b[..., 2:]) - common
    return xp.where(union > 0, common / xp.where(union > 0, union, 1), 0).astype(a.dtype, copy=False)


def _area(xp: Any, low: Any, high: Any) -> Any:
    size = xp.maximum(high - low, 0)
    return size[..., 0] * size[..., 1]


#: How many pairs of boxes are compared in one go; their intermediate results then stay in the cache.
_PAIRS_AT_ONCE = 1 << 16


def suppress(
    xp: Any, boxes: Any, alive: Any, classes: Any, threshold: float, steps: int, inclusive: bool = False
) -> Any:
    """Greedy non-maximum suppression of boxes (batch, n, 4) that are sorted, best first: which ones stay.

    Each of the first `steps` boxes that is still alive removes the later ones of its class (`classes` None: of any)
    that overlap it by more than `threshold` (`inclusive`: or exactly so much).
    """
    alive = alive.copy()
    batch, count = boxes.shape[:2]
    steps = min(steps, count - 1)
    block = max(1, _PAIRS_AT_ONCE // max(1, batch * count))
    for start in range(0, steps, block):
        stop = min(start + block, steps)
        # All overlaps of some boxes with those behind the first of them; what they remove is then only looked up.
        shared = overlaps(xp, boxes[:, start:stop, None], boxes[:, None, start:])
        hits = shared >= threshold if inclusive else shared > threshold
        if classes is not None:
            hits &= classes[:, start:stop, None] == classes[:, None, start:]
        spared = ~hits
        for i in range(start, stop):
            alive[:, i + 1 :] &= spared[:, i - start, i + 1 - start :] | ~alive[:, i : i + 1]
    return alive


def match_greedily(xp: Any, scores: Any, allowed: Any, steps: int) -> tuple[Any, Any]:
    """Pairs rows and columns of scores (batch, n, m), the largest allowed score first.

    Returns the partner of each row, and of each column. A row or column without a partner has -1.
    """
    batch, n, m = scores.shape
    rows, columns = xp.full((batch, n), -1), xp.full((batch, m), -1)
    free = allowed.copy()
    which, along_rows, along_columns = xp.arange(batch), xp.arange(n), xp.arange(m)
    for _ in range(steps):
        best = xp.where(free, scores, -xp.inf).reshape(batch, n * m).argmax(axis=1)
        row, column = best // m, best % m
        found = free[which, row, column][:, None]
        at_row, at_column = (along_rows == row[:, None]) & found, (along_columns == column[:, None]) & found
        rows, columns = xp.where(at_row, column[:, None], rows), xp.where(at_column, row[:, None], columns)
        free &= ~(at_row[:, :, None] | at_column[:, None, :])
    return rows, columns
