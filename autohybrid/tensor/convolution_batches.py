"""Convolution of batches through columns with the channels last, and its adjoint in the weight.

One of the ways of `tensor/convolution.py`. With the channels last, what a row of the kernel meets lies side by side in
memory, so columns are copied in long runs. Some images are worked on at a time, so that their columns stay in the cache
of a core. It takes permuted weights, which pays only where there are more positions than filters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.pieces import Empty
from autohybrid.tensor.product_sums import sum_of_products
from autohybrid.tensor.windows import Extents, Window

#: Columns of the images that are worked on together: elements, and the least number of rows of a product.
_BLOCK_ELEMENTS = 1 << 18
_BLOCK_ROWS = 256


def is_fit(data_shape: Extents, weight_shape: Extents, window: Window, groups: int, positions: Extents) -> bool:
    """Whether this way pays: runs much longer than rows of positions, and more positions than weights to permute."""
    if groups != 1 or max(window.kernel) == 1 or 0 in data_shape or 0 in weight_shape or window.dilate[-1] > 1:
        return False
    run = data_shape[1] * window.kernel[-1]
    return run >= 8 * positions[-1] and data_shape[0] * math.prod(positions) >= 4 * weight_shape[0]


def convolve(xp: Any, x: Any, w: Any, window: Window, result: Any, empty: Empty) -> None:
    """The convolution of `x` (n, channels, *spatial) with `w`, into `result` (n, filters, *positions).

    `empty` makes the arrays for the work, see `scratch_elements`.
    """
    job = _Job(x.shape, w.shape, window, result.shape[2:])
    rows = _Rows(xp, job, x.dtype, empty)
    last = empty((w.shape[0], *window.kernel, w.shape[1]), w.dtype)
    last[...] = to_last(w)
    matrix = last.reshape(w.shape[0], -1).T
    products = empty((job.step * job.count, w.shape[0]), x.dtype)
    for part, images in job.parts():
        product = products[: images * job.count]
        xp.dot(rows.read(x[part]), matrix, out=product)
        result[part] = to_first(product.reshape(images, *job.positions, -1))


def to_weight(xp: Any, h: Any, x: Any, window: Window, out: Any, empty: Empty) -> None:
    """The adjoint in the weight, into `out` (filters, channels, *kernel); `empty`: see `convolve`."""
    filters = h.shape[1]
    job = _Job(x.shape, out.shape, window, h.shape[2:])
    rows = _Rows(xp, job, x.dtype, empty)
    heads = empty((job.step, *job.positions, filters), h.dtype)
    total = empty((filters, job.depth), h.dtype)

    def factors() -> Iterator[tuple[Any, Any]]:
        for part, images in job.parts():
            heads[:images] = to_last(h[part])
            yield heads[:images].reshape(images * job.count, filters).T, rows.read(x[part])

    sum_of_products(xp, factors(), total, empty)
    out[...] = to_first(total.reshape(filters, *window.kernel, out.shape[1]))


def scratch_elements(data_shape: Extents, weight_shape: Extents, window: Window, positions: Extents) -> int:
    """How many elements of working memory `convolve` and `to_weight` need at most."""
    job = _Job(data_shape, weight_shape, window, positions)
    images = job.step * (math.prod(job.full) * data_shape[1] + job.count * (job.depth + weight_shape[0]))
    return images + 2 * math.prod(weight_shape)


@dataclass(frozen=True, slots=True)
class _Job:
    """The extents of one convolution, and how its batch is cut."""

    data_shape: Extents
    weight_shape: Extents
    window: Window
    positions: Extents

    @property
    def count(self) -> int:
        """Positions of one image."""
        return math.prod(self.positions)

    @property
    def depth(self) -> int:
        """Elements of a column."""
        return math.prod(self.weight_shape[1:])

    @property
    def step(self) -> int:
        """How many images are worked on together."""
        elements = self.count * self.depth
        return min(self.data_shape[0], max(1, -(-_BLOCK_ROWS // self.count), _BLOCK_ELEMENTS // elements))

    @property
    def full(self) -> Extents:
        """The spatial extents with padding."""
        return tuple(n + 2 * p for n, p in zip(self.data_shape[2:], self.window.pad))

    @property
    def inner(self) -> tuple[slice, ...]:
        """The subscript of the data in padded images with the channels last."""
        spatial = zip(self.data_shape[2:], self.window.pad)
        return (slice(None), *[slice(p, p + n) for n, p in spatial])

    def parts(self) -> Iterator[tuple[slice, int]]:
        """The slices of the batch, and how many images each holds."""
        n = self.data_shape[0]
        for start in range(0, n, self.step):
            stop = min(n, start + self.step)
            yield slice(start, stop), stop - start


class _Rows:
    """Reads images as rows (images * positions, kernel * channels), through buffers of its own."""

    def __init__(self, xp: Any, job: _Job, dtype: Any, empty: Empty) -> None:
        channels, window = job.data_shape[1], job.window
        self._job = job
        self._images = empty((job.step, *job.full, channels), dtype)
        self._images[...] = 0
        self._columns = empty((job.step, *job.positions, *window.kernel, channels), dtype)
        first, *steps, last = self._images.strides
        moves = [t * s for t, s in zip(steps, window.stride)]
        taps = [t * d for t, d in zip(steps, window.dilate)]
        self._view = xp.lib.stride_tricks.as_strided(self._images, self._columns.shape, (first, *moves, *taps, last))

    def read(self, images: Any) -> Any:
        """The rows of these images; valid until the next call."""
        count, job = images.shape[0], self._job
        self._images[:count][job.inner] = to_last(images)
        self._columns[:count] = self._view[:count]
        return self._columns[:count].reshape(count * job.count, math.prod(job.weight_shape[1:]))


def to_last(images: Any) -> Any:
    """(n, channels, *spatial) as a view with the channels last."""
    return images.transpose(0, *range(2, images.ndim), 1)


def to_first(images: Any) -> Any:
    """The inverse of `to_last`."""
    return images.transpose(0, images.ndim - 1, *range(1, images.ndim - 1))
