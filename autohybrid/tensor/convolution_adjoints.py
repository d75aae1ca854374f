"""The adjoints of a convolution in two steps, one of the ways of `tensor/convolution.py`.

All axes of the kernel but the last are gathered from the heads, so that every row of the data has beside it what the
positions above and below it give. For the gradient of the data one product takes that to the numbers of one row of the
kernel, which are added to the row of the data that they belong to; for the gradient of the weight the product is with
the windows of each row. So neither the columns of the heads nor those of the data, which are as many times larger as
the kernel has elements, need be made. Channels are last, as that makes runs long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.convolution_batches import to_first, to_last
from autohybrid.tensor.pieces import Empty
from autohybrid.tensor.product_sums import sum_of_products
from autohybrid.tensor.windows import Extents, Window

#: Elements of the gathered heads of the images that are worked on together.
_BLOCK_ELEMENTS = 3 << 17
_LEAST_RUN = 16
#: Products with as many times the numbers that are needed are not worth it.
MOST_WASTE = 1.6


def is_fit(
    data_shape: Extents,
    weight_shape: Extents,
    window: Window,
    groups: int,
    positions: Extents,
    most_waste: float = MOST_WASTE,
) -> bool:
    """Whether this way pays: strides only along the last axis, long runs, more positions than weights to permute."""
    if groups != 1 or max(window.kernel) == 1 or 0 in data_shape or 0 in weight_shape or window.dilate[-1] > 1:
        return False
    if max((1, *window.stride[:-1])) > 1 or any(s <= p for s, p in zip(window.span[:-1], window.pad[:-1])):
        return False
    waste = math.prod(data_shape[2:-1]) / math.prod(positions[:-1])
    run = weight_shape[1] * window.kernel[-1]
    return waste <= most_waste and run >= _LEAST_RUN and data_shape[0] * math.prod(positions) >= 2 * weight_shape[0]


def to_data(xp: Any, h: Any, w: Any, window: Window, out: Any, empty: Empty) -> None:
    """The adjoint, into `out` (n, channels, *spatial), from `h` (n, filters, *positions).

    `empty` makes the arrays for the work, see `scratch_elements`.
    """
    job = _Job(out.shape, w.shape, window, h.shape[2:])
    matrix = _matrix(job, w, empty)
    padded, gathered, spread, sums = (empty(shape, h.dtype) for shape in job.arrays())
    padded[...] = 0
    view = xp.lib.stride_tricks.as_strided(padded, gathered.shape, job.view_strides(padded.strides))
    inner = (slice(None), *[slice(p, p + n) for p, n in zip(job.margin, job.positions)])
    for start in range(0, len(out), job.step):
        part = slice(start, min(start + job.step, len(out)))
        count = part.stop - part.start
        padded[:count][inner] = to_last(h[part])
        gathered[:count] = view[:count]
        factors = gathered[:count].reshape(-1, matrix.shape[0])
        xp.dot(factors, matrix, out=spread[:count].reshape(-1, matrix.shape[1]))
        sums[:count] = 0
        _add_up(xp, job, spread[:count], sums[:count])
        pad = window.pad[-1]
        out[part] = to_first(sums[:count][..., pad : pad + out.shape[-1], :])


def to_weight(xp: Any, h: Any, x: Any, window: Window, out: Any, empty: Empty) -> None:
    """The adjoint in the weight, into `out` (filters, channels, *kernel); `empty`: see `to_data`."""
    job = _Job(x.shape, out.shape, window, h.shape[2:])
    padded, gathered, windows, rows = (empty(shape, h.dtype) for shape in job.arrays())
    padded[...] = 0
    rows[...] = 0
    strides = xp.lib.stride_tricks.as_strided
    head_view = strides(padded, gathered.shape, job.view_strides(padded.strides))
    *before, place, last = rows.strides
    row_view = strides(rows, windows.shape, (*before, place * window.stride[-1], last))
    inner = (slice(None), *[slice(p, p + n) for p, n in zip(job.margin, job.positions)])
    pad, width = window.pad[-1], x.shape[-1]
    depth = (gathered.shape[-1] * math.prod(window.kernel[:-1]), windows.shape[-1])
    total = empty(depth, h.dtype)

    def factors() -> Iterator[tuple[Any, Any]]:
        for start in range(0, len(x), job.step):
            part = slice(start, min(start + job.step, len(x)))
            count = part.stop - part.start
            padded[:count][inner] = to_last(h[part])
            gathered[:count] = head_view[:count]
            rows[:count][..., pad : pad + width, :] = to_last(x[part])
            windows[:count] = row_view[:count]
            yield gathered[:count].reshape(-1, depth[0]).T, windows[:count].reshape(-1, depth[1])

    sum_of_products(xp, factors(), total, empty)
    rank = len(window.kernel)
    parts = total.reshape(*window.kernel[:-1], out.shape[0], window.kernel[-1], out.shape[1])
    out[...] = parts[(slice(None, None, -1),) * (rank - 1)].transpose(rank - 1, rank + 1, *range(rank - 1), rank)


def scratch_elements(data_shape: Extents, weight_shape: Extents, window: Window, positions: Extents) -> int:
    """How many elements of working memory the adjoints need at most."""
    job = _Job(data_shape, weight_shape, window, positions)
    return sum(map(math.prod, job.arrays())) + 2 * math.prod(weight_shape)


@dataclass(frozen=True, slots=True)
class _Job:
    """The extents of one adjoint. `outer` are the spatial axes but the last."""

    data_shape: Extents
    weight_shape: Extents
    window: Window
    positions: Extents

    @property
    def outer(self) -> Extents:
        return self.data_shape[2:-1]

    @property
    def margin(self) -> Extents:
        """The zeros around the heads, so that each row of the data meets the kernel upside down."""
        return tuple(s - 1 - p for s, p in zip(self.window.span[:-1], self.window.pad[:-1]))

    @property
    def step(self) -> int:
        """How many images are worked on together."""
        taps = math.prod(self.window.kernel[:-1]) * self.weight_shape[0]
        elements = math.prod(self.outer) * self.positions[-1] * taps
        return min(self.data_shape[0], max(1, _BLOCK_ELEMENTS // elements))

    def arrays(self) -> tuple[Extents, Extents, Extents, Extents]:
        """The shapes of the padded heads, the gathered ones, the windows of rows, and the padded rows of the data."""
        filters, channels = self.weight_shape[:2]
        width, places, n = self.window.kernel[-1], self.positions[-1], self.step
        full = [m + 2 * p for m, p in zip(self.positions, self.margin)]
        return (
            (n, *full, places, filters),
            (n, *self.outer, places, *self.window.kernel[:-1], filters),
            (n, *self.outer, places, width * channels),
            (n, *self.outer, self.data_shape[-1] + 2 * self.window.pad[-1], channels),
        )

    def view_strides(self, strides: Extents) -> Extents:
        """The strides that show the padded heads as the gathered ones."""
        first, *rows, place, last = strides
        taps = [s * d for s, d in zip(rows, self.window.dilate)]
        return (first, *rows, place, *taps, last)


def _matrix(job: _Job, w: Any, empty: Empty) -> Any:
    """The weight as (outer kernel, upside down, and filters) x (last axis of the kernel and channels)."""
    filters, channels, *kernel = w.shape
    rank = len(kernel)
    turned = w[(slice(None), slice(None), *[slice(None, None, -1)] * (rank - 1))]
    matrix = empty((*kernel[:-1], filters, kernel[-1], channels), w.dtype)
    matrix[...] = turned.transpose(*range(2, 1 + rank), 0, 1 + rank, 1)
    return matrix.reshape(-1, kernel[-1] * channels)


def _add_up(xp: Any, job: _Job, spread: Any, sums: Any) -> None:
    """Add to each row of the padded data what the positions along it give."""
    channels, width, places, stride = sums.shape[-1], job.window.kernel[-1], job.positions[-1], job.window.stride[-1]
    if places <= 2 * width:
        lines = sums.reshape(*sums.shape[:-2], -1)
        for place in range(places):
            start = place * stride * channels
            target = lines[..., start : start + width * channels]
            xp.add(target, spread[..., place, :], out=target)
        return
    taps = spread.reshape(*spread.shape[:-1], width, channels)
    for tap in range(width):
        target = sums[..., tap : tap + (places - 1) * stride + 1 : stride, :]
        xp.add(target, taps[..., tap, :], out=target)
