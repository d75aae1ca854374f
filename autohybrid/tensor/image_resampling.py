"""Resizing images as OpenCV does: which source rows or columns make up each target one, and with what weights.

Every method is separable and linear along an axis, so it is a table of taps: `index` and `weight` of shape (target
extent, taps). Positions and coefficients follow OpenCV 3.4's `resize`, which MXNet 1.9.1 calls. `xp` only.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

NEAREST, LINEAR, CUBIC, AREA, LANCZOS = range(5)
#: Bits of the integer coefficients that OpenCV uses for 8-bit images.
_BITS = 11


class Taps(NamedTuple):
    """For each target position the source positions it is made of, and their float64 weights."""

    index: Any
    weight: Any


def make_taps(xp: Any, source: int, target: int, method: int, shrinks: bool) -> Taps:
    """The taps of one axis. `shrinks`: no axis of the image grows, the case where AREA averages."""
    scale = source / target
    if method == NEAREST:
        index = xp.minimum(xp.floor(xp.arange(target) * scale).astype("int64"), source - 1)
        return Taps(index[:, None], xp.ones((target, 1)))
    if method == AREA:
        return _area(xp, source, target, scale) if shrinks else _enlarged_area(xp, source, target, scale)
    place = (xp.arange(target, dtype="float64") + 0.5) * scale - 0.5
    first = xp.floor(place)
    fraction = place - first
    if method == LINEAR:
        return _two(xp, source, first, fraction)
    weight = _cubic(xp, fraction) if method == CUBIC else _lanczos(xp, fraction)
    reach = weight.shape[1] // 2
    index = first.astype("int64")[:, None] + xp.arange(1 - reach, reach + 1)
    return Taps(xp.clip(index, 0, source - 1), weight)


def _two(xp: Any, source: int, first: Any, fraction: Any) -> Taps:
    # At the edges both taps are the same pixel; the split of the weight still matters for rounding in bytes.
    index = first.astype("int64")[:, None] + xp.arange(2)
    return Taps(xp.clip(index, 0, source - 1), xp.stack([1 - fraction, fraction], axis=1))


def _enlarged_area(xp: Any, source: int, target: int, scale: float) -> Taps:
    count = xp.arange(target, dtype="float64")
    first = xp.floor(count * scale)
    fraction = count + 1 - (first + 1) / scale
    return _two(xp, source, first, xp.where(fraction <= 0, 0.0, fraction - xp.floor(fraction)))


def _area(xp: Any, source: int, target: int, scale: float) -> Taps:
    start = xp.arange(target, dtype="float64") * scale
    cells = xp.floor(start).astype("int64")[:, None] + xp.arange(math.ceil(scale) + 1)
    overlap = xp.minimum(cells + 1, (start + scale)[:, None]) - xp.maximum(cells, start[:, None])
    weight = xp.where(cells < source, xp.maximum(overlap, 0.0), 0.0)
    return Taps(xp.minimum(cells, source - 1), weight / weight.sum(axis=1, keepdims=True))


def _cubic(xp: Any, x: Any) -> Any:
    a = -0.75
    far = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    mirrored = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1
    return xp.stack([far, near, mirrored, 1 - far - near - mirrored], axis=1)


def _lanczos(xp: Any, x: Any) -> Any:
    offset = x[:, None] + 3 - xp.arange(8)
    angle = offset * math.pi
    safe = xp.where(angle == 0, 1.0, angle)
    weight = xp.where(angle == 0, 1.0, xp.sin(safe) * xp.sin(safe / 4) * 4 / (safe * safe))
    return weight / weight.sum(axis=1, keepdims=True)


def resample(xp: Any, image: Any, rows: Taps, columns: Taps) -> Any:
    """`image` (..., height, width, channels) in floating point, resized by the taps of its rows and columns."""
    wide = _along(xp, image, columns.index, columns.weight.astype(image.dtype), -2)
    return _along(xp, wide, rows.index, rows.weight.astype(image.dtype), -3)


def resample_bytes(xp: Any, image: Any, rows: Taps, columns: Taps, method: int) -> Any:
    """`image` of dtype uint8, resized with OpenCV's integer coefficients and rounding."""
    if method == AREA and rows.weight.shape[1] != 2:
        values = resample(xp, image.astype("float32"), rows, columns)
        halved = image.shape[-3:-1] == (2 * rows.index.shape[0], 2 * columns.index.shape[0])
        # The mean of 2 by 2 pixels is rounded half up, all others half to even.
        return xp.clip(xp.floor(values + 0.5) if halved else xp.rint(values), 0, 255).astype("uint8")
    linear = method in (LINEAR, AREA)
    whole = "int32" if linear else "int64"  # the other methods overshoot, which can pass 31 bits
    across, down = [xp.rint(t.weight * 2**_BITS).astype(whole) for t in (columns, rows)]
    wide = _along(xp, image.astype(whole), columns.index, across, -2)
    if linear:
        terms = _terms(wide >> 4, rows.index, down, -3)
        total = ((next(terms) >> 16) + (next(terms) >> 16) + 2) >> 2
    else:
        total = (_along(xp, wide, rows.index, down, -3) + (1 << (2 * _BITS - 1))) >> (2 * _BITS)
    return xp.clip(total, 0, 255).astype("uint8")


def _terms(image: Any, index: Any, weight: Any, axis: int) -> Any:
    behind = (1,) * (-1 - axis)
    for tap in range(index.shape[1]):
        yield image.take(index[:, tap], axis=axis) * weight[:, tap].reshape(-1, *behind)


def _along(xp: Any, image: Any, index: Any, weight: Any, axis: int) -> Any:
    terms = _terms(image, index, weight, axis)
    total = next(terms)
    for term in terms:
        total = total + term
    return total


def resample_back(xp: Any, head: Any, height: int, width: int, rows: Taps, columns: Taps) -> Any:
    """The adjoint of `resample`: `head` brought back to an image of this height and width."""
    down, across = _matrix(xp, rows, height, head.dtype), _matrix(xp, columns, width, head.dtype)
    return xp.einsum("yh,xw,...yxc->...hwc", down, across, head, optimize=True)


def _matrix(xp: Any, taps: Taps, source: int, dtype: Any) -> Any:
    hot = taps.index[..., None] == xp.arange(source)
    return (hot * taps.weight[..., None]).sum(axis=1).astype(dtype)
