"""Reading images at positions given by arrays, and writing back: gathers, scatters and range maxima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.tensor.dual import Dual
from autohybrid.tensor.scatter import add_rows


def gather_pixels(xp: Any, data: Any, rows: Any, columns: Any) -> Any:
    """`data` (n, c, h, w) at integer `rows` and `columns` (n, *p): (n, c, *p), zeros outside of the image."""
    n, channels, height, width = data.shape
    points = math.prod(rows.shape[1:])
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    index = xp.where(inside, rows * width + columns, 0).reshape(n, 1, points)
    found = xp.take_along_axis(data.reshape(n, channels, height * width), index, axis=2)
    return found.reshape(n, channels, *rows.shape[1:]) * inside[:, None]


def scatter_pixels(xp: Any, values: Any, rows: Any, columns: Any, height: int, width: int) -> Any:
    """The adjoint of `gather_pixels`: values (n, c, *p) added into (n, c, height, width)."""
    if isinstance(values, Dual):
        return xp.linear(lambda part: scatter_pixels(xp.plain, part, rows, columns, height, width), values)
    n, channels = values.shape[:2]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    first = xp.arange(n).reshape(-1, *[1] * (rows.ndim - 1)) * (height * width)
    index = (first + xp.where(inside, rows * width + columns, 0)).reshape(-1)
    points = math.prod(rows.shape[1:])
    flat = (values * inside[:, None]).reshape(n, channels, points).transpose(0, 2, 1).reshape(n * points, channels)
    total = add_rows(xp, n * height * width, index, flat)
    return xp.ascontiguousarray(total.reshape(n, height, width, channels).transpose(0, 3, 1, 2))


def sample_bilinear(xp: Any, data: Any, rows: Any, columns: Any) -> Any:
    """`data` (n, c, h, w) at fractional `rows` and `columns` (n, *p), interpolated; zeros outside: (n, c, *p)."""
    top, left = xp.floor(rows), xp.floor(columns)
    down, right = (rows - top)[:, None], (columns - left)[:, None]
    top, left = top.astype(xp.int64), left.astype(xp.int64)
    upper = gather_pixels(xp, data, top, left) * (1 - right) + gather_pixels(xp, data, top, left + 1) * right
    lower = gather_pixels(xp, data, top + 1, left) * (1 - right) + gather_pixels(xp, data, top + 1, left + 1) * right
    return upper * (1 - down) + lower * down


def bilinear_gradients(xp: Any, head: Any, data: Any, rows: Any, columns: Any) -> tuple[Any, Any, Any]:
    """Gradients of `sample_bilinear` for data, rows and columns, from `head` (n, c, *p)."""
    height, width = data.shape[2:]
    top, left = xp.floor(rows), xp.floor(columns)
    down, right = (rows - top)[:, None], (columns - left)[:, None]
    top, left = top.astype(xp.int64), left.astype(xp.int64)
    to_data, to_rows, to_columns = 0, 0, 0
    for dy in (0, 1):
        for dx in (0, 1):
            vertical, horizontal = (down if dy else 1 - down), (right if dx else 1 - right)
            value = gather_pixels(xp, data, top + dy, left + dx)
            weighted = head * (vertical * horizontal)
            to_data = to_data + scatter_pixels(xp, weighted, top + dy, left + dx, height, width)
            along = (head * value).sum(axis=1)
            to_rows = to_rows + (1 if dy else -1) * along * horizontal[:, 0]
            to_columns = to_columns + (1 if dx else -1) * along * vertical[:, 0]
    return to_data, to_rows, to_columns


def first_maxima(xp: Any, data: Any, spans: Sequence[Any], image: Any) -> Any:
    """For each rectangle the flat index (row * width + column) of the first maximum of every channel.

    `data` is (n, c, h, w); `spans` are top, bottom, left and right, half open, each (r, i, j); `image` (r,) says which
    image. Returns (r, c, i, j); empty rectangles give the index of some pixel. A table of maxima over blocks of
    2**k x 2**l answers each rectangle with four reads, so nothing depends on values of the bounds.
    """
    top, bottom, left, right = spans
    n, channels, height, width = data.shape
    levels = (height.bit_length(), width.bit_length())
    flat = data.reshape(n, channels, -1)
    start = xp.broadcast_to(xp.arange(height * width).reshape(1, 1, height, width), data.shape)
    tables = []
    rows = start
    for k in range(levels[0]):
        if k:
            rows = _better(xp, flat, rows, _moved_up(xp, rows, 1 << (k - 1), 2))
        block = rows
        for l in range(levels[1]):
            if l:
                block = _better(xp, flat, block, _moved_up(xp, block, 1 << (l - 1), 3))
            tables.append(block)
    table = xp.stack(tables).reshape(*levels, n, channels, height, width)
    tall, wide = xp.maximum(bottom - top, 1), xp.maximum(right - left, 1)
    k, l = xp.floor(xp.log2(tall + 0.5)).astype(xp.int64), xp.floor(xp.log2(wide + 0.5)).astype(xp.int64)
    lower, further = xp.maximum(bottom - (1 << k), 0), xp.maximum(right - (1 << l), 0)
    near_top, near_left = xp.clip(top, 0, height - 1), xp.clip(left, 0, width - 1)
    where = (k[:, None], l[:, None], image.reshape(-1, 1, 1, 1), xp.arange(channels).reshape(1, -1, 1, 1))
    best = None
    for y in (near_top, lower):
        for x in (near_left, further):
            found = table[(*where, y[:, None], x[:, None])]
            best = found if best is None else _better_at(xp, flat, best, found, image)
    return best


def _moved_up(xp: Any, index: Any, by: int, axis: int) -> Any:
    """`index` read `by` further along an axis, the last entry repeated."""
    steps = xp.minimum(xp.arange(index.shape[axis]) + by, index.shape[axis] - 1)
    return xp.take(index, steps, axis=axis)


def _better(xp: Any, flat: Any, a: Any, b: Any) -> Any:
    """Of two index arrays (n, c, h, w) the one whose value is larger, the first pixel on a tie."""
    shape = a.shape
    va = xp.take_along_axis(flat, a.reshape(*shape[:2], -1), axis=2).reshape(shape)
    vb = xp.take_along_axis(flat, b.reshape(*shape[:2], -1), axis=2).reshape(shape)
    return xp.where((vb > va) | ((vb == va) & (b < a)), b, a)


def _better_at(xp: Any, flat: Any, a: Any, b: Any, image: Any) -> Any:
    """`_better` for index arrays (r, c, i, j) into the images named by `image`."""
    where = (image.reshape(-1, 1, 1, 1), xp.arange(flat.shape[1]).reshape(1, -1, 1, 1))
    va, vb = flat[(*where, a)], flat[(*where, b)]
    return xp.where((vb > va) | ((vb == va) & (b < a)), b, a)
