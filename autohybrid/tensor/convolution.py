"""The three products behind Convolution and Deconvolution, on arrays (n, channels, *spatial) of any array library.

They are the derivatives of one trilinear form <head, conv(data, weight)>: `convolve` in head, `to_data` in data,
`to_weight` in weight. Weights are (filters, channels / groups, *kernel).

Windows become columns and columns go into one matrix product. With many positions an image has work enough for a
product of its own, and one buffer of columns is used for all of them; with few, the images of a batch are merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from autohybrid.tensor import convolution_adjoints
from autohybrid.tensor import convolution_batches as batches
from autohybrid.tensor.pieces import Empty
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.product_sums import sum_of_products
from autohybrid.tensor.windows import Extents, Window, padded, unpadded, window_view

_FEW_POSITIONS = 256
#: A matrix that stays in the cache is multiplied with image after image as fast as with all of them merged.
_SMALL_WEIGHT = 1 << 16
_MERGED_ELEMENTS = 1 << 23
#: The other way to the gradient of a weight, through columns, wastes nothing.
_MOST_WASTE_OF_WEIGHTS = 1.2
#: Planes that are worked on together stay in the cache of a core.
_BLOCK_BYTES = 1 << 18
_COLUMN_ELEMENTS = 1 << 18


class _Columns(NamedTuple):
    """The sizes of the products: per group `filters` x `depth` times `depth` x `positions`."""

    groups: int
    filters: int
    depth: int
    positions: int

    def step(self, n: int) -> int:
        """How many images of `n` go into one product."""
        if self.positions > _FEW_POSITIONS:
            return 1
        return max(1, min(n, _MERGED_ELEMENTS // max(1, self.groups * self.depth * self.positions)))

    def parts(self, n: int) -> Iterator[slice]:
        """The slices of the batch that go into one product."""
        step = self.step(n)
        for start in range(0, n, step):
            yield slice(start, min(n, start + step))


def _sizes(weight_shape: Extents, groups: int, positions: Extents) -> _Columns:
    return _Columns(groups, weight_shape[0] // groups, math.prod(weight_shape[1:]), math.prod(positions))


class Workspace(NamedTuple):
    """Memory for one convolution: the shapes of the padded data and of the columns; None for what is not needed.

    The same name stands for the arrays of these shapes.
    """

    padded: Any
    columns: Any


def is_blockwise(data_shape: Extents, weight_shape: Extents, window: Window, groups: int) -> bool:
    """Whether `convolve` goes image by image and so can be given a workspace."""
    positions = window.output_extents(data_shape[2:])
    if _is_depthwise(data_shape[1], weight_shape, groups):
        return True
    if _is_pointwise(window) and math.prod(weight_shape) <= _SMALL_WEIGHT:
        return True
    return data_shape[0] == 1 or math.prod(positions) > _FEW_POSITIONS


def workspace(data_shape: Extents, weight_shape: Extents, window: Window, groups: int) -> Workspace:
    """The shapes of the arrays that `convolve` needs for its work."""
    full = None
    if any(window.pad):
        full = (*data_shape[:2], *[n + 2 * p for n, p in zip(data_shape[2:], window.pad)])
    if _is_depthwise(data_shape[1], weight_shape, groups) or _is_pointwise(window):
        return Workspace(full, None)
    sizes = _sizes(weight_shape, groups, window.output_extents(data_shape[2:]))
    rows = _rows_of_block(sizes, window.output_extents(data_shape[2:]), data_shape[1])
    columns = (data_shape[1], *window.kernel, rows, *window.output_extents(data_shape[2:])[1:])
    return Workspace(full, columns)


def convolve(
    xp: Any,
    data: Any,
    weight: Any,
    window: Window,
    groups: int,
    out: Any = None,
    memory: Workspace | None = None,
    empty: Empty | None = None,
) -> Any:
    """The convolution of `data` with `weight`: (n, filters, *positions).

    It is written into `out` where given; `memory` holds arrays for the work, see `workspace`; where the images of a
    batch go together, `empty` makes them, see `scratch_elements`.
    """
    x, w = widen(xp, data, weight)
    positions = window.output_extents(x.shape[2:])
    result = xp.empty((x.shape[0], w.shape[0], *positions), dtype=x.dtype) if out is None else out
    if not is_blockwise(x.shape, w.shape, window, groups):
        if batches.is_fit(x.shape, w.shape, window, groups, positions):
            batches.convolve(xp, x, w, window, result, empty or xp.empty)
        else:
            _convolve_merged(xp, x, w, window, groups, result)
        return narrow(result, data)
    if memory is None:
        shapes = workspace(x.shape, w.shape, window, groups)
        memory = Workspace(*[None if s is None else xp.empty(s, dtype=x.dtype) for s in shapes])
    if memory.padded is not None:
        memory.padded.fill(0)
        inner = (slice(None), slice(None), *[slice(p, p + n) for p, n in zip(window.pad, x.shape[2:])])
        memory.padded[inner] = x
        x = memory.padded
    if _is_depthwise(x.shape[1], w.shape, groups):
        _depthwise(xp, x, w, window, positions, result)
    else:
        _convolve_images(xp, x, w, window, groups, result, memory.columns)
    return narrow(result, data)


def _convolve_images(xp: Any, x: Any, w: Any, window: Window, groups: int, result: Any, columns: Any) -> None:
    """Image by image, some rows of positions at a time, so that their columns stay in the cache; `x` is padded."""
    positions = result.shape[2:]
    sizes = _sizes(w.shape, groups, positions)
    matrix = w.reshape(groups, sizes.filters, sizes.depth)
    target = result.reshape(x.shape[0], groups, sizes.filters, sizes.positions)
    if columns is None:  # a kernel of one element: the data are the columns
        xp.matmul(matrix, x.reshape(x.shape[0], groups, sizes.depth, sizes.positions), out=target)
        return
    spatial = len(positions)
    view = window_view(xp, x, window, positions)
    rows, width = columns.shape[1 + spatial], math.prod(positions[1:])
    for image in range(x.shape[0]):
        for start in range(0, positions[0], rows):
            count = min(rows, positions[0] - start)
            piece = (slice(None),) * (1 + spatial)
            block = columns[(*piece, slice(0, count))]
            block[...] = view[image][(*piece, slice(start, start + count))]
            product = block.reshape(groups, sizes.depth, count * width)
            xp.matmul(matrix, product, out=target[image, :, :, start * width : (start + count) * width])


def _rows_of_block(sizes: _Columns, positions: Extents, channels: int) -> int:
    """How many rows of positions have columns that fit into the cache; all of them where that is nearly so."""
    row = sizes.groups * sizes.depth * max(1, math.prod(positions[1:]))
    rows = max(1, _COLUMN_ELEMENTS // row)
    blocks = -(-positions[0] // rows)
    return -(-positions[0] // blocks)


def _convolve_merged(xp: Any, x: Any, w: Any, window: Window, groups: int, result: Any) -> None:
    """Many images at a time, for few positions in each."""
    n, positions = x.shape[0], result.shape[2:]
    sizes = _sizes(w.shape, groups, positions)
    matrix = w.reshape(groups, sizes.filters, sizes.depth)
    reader = _Reader(xp, x, window, sizes, positions)
    for part in sizes.parts(n):
        count = part.stop - part.start
        product = xp.matmul(matrix, reader.columns(part)).reshape(groups, sizes.filters, count, sizes.positions)
        target = result[part].reshape(count, groups, sizes.filters, sizes.positions)
        target[...] = product.transpose(2, 0, 1, 3)


def to_data(
    xp: Any,
    head: Any,
    weight: Any,
    window: Window,
    groups: int,
    spatial: Extents,
    out: Any = None,
    empty: Empty | None = None,
) -> Any:
    """The adjoint in the data: (n, channels, *spatial) from `head` (n, filters, *positions).

    It is written into `out` where given; `empty` makes the arrays for the work, see `scratch_elements`.
    """
    h, w = widen(xp, head, weight)
    n, positions = h.shape[0], h.shape[2:]
    channels, empty = w.shape[1] * groups, empty or xp.empty
    result = xp.empty((n, channels, *spatial), h.dtype) if out is None else out
    if _is_depthwise(channels, w.shape, groups):
        result[...] = _depthwise_to_data(xp, h, w, window, spatial)
    elif convolution_adjoints.is_fit(result.shape, w.shape, window, groups, positions):
        convolution_adjoints.to_data(xp, h, w, window, result, empty)
    else:
        _merged_to_data(xp, h, w, window, groups, result, empty)
    return narrow(result, head)


def _merged_to_data(xp: Any, h: Any, w: Any, window: Window, groups: int, result: Any, empty: Empty) -> None:
    n, channels, *spatial = result.shape
    positions = h.shape[2:]
    sizes = _sizes(w.shape, groups, positions)
    matrix = w.reshape(groups, sizes.filters, sizes.depth).swapaxes(1, 2)
    full = result
    if any(window.pad):
        full = empty((n, channels, *[m + 2 * p for m, p in zip(spatial, window.pad)]), h.dtype)
    full[...] = 0
    buffer = empty((sizes.groups, sizes.depth, sizes.step(n) * sizes.positions), h.dtype)
    for part in sizes.parts(n):
        count = part.stop - part.start
        columns = buffer[:, :, : count * sizes.positions]
        xp.matmul(matrix, _merged(h[part], sizes), out=columns)
        taps = columns.reshape(channels, math.prod(window.kernel), count, *positions)
        target = full[part].swapaxes(0, 1)
        for index, tap in enumerate(window.taps()):
            target[(slice(None), slice(None), *window.tap_slices(tap, positions))] += taps[:, index]
    if full is not result:
        result[...] = full[(slice(None), slice(None), *[slice(p, p + m) for p, m in zip(window.pad, spatial)])]


def to_weight(
    xp: Any,
    head: Any,
    data: Any,
    window: Window,
    groups: int,
    shape: Extents,
    out: Any = None,
    empty: Empty | None = None,
) -> Any:
    """The adjoint in the weight: an array of `shape` (filters, channels / groups, *kernel). `out`, `empty`: see
    `to_data`."""
    h, x = widen(xp, head, data)
    n, positions = h.shape[0], h.shape[2:]
    empty = empty or xp.empty
    result = xp.empty(shape, h.dtype) if out is None else out
    if _is_depthwise(x.shape[1], shape, groups):
        result[...] = _depthwise_to_weight(xp, h, x, window, shape)
        return narrow(result, head)
    if convolution_adjoints.is_fit(x.shape, shape, window, groups, positions, _MOST_WASTE_OF_WEIGHTS):
        convolution_adjoints.to_weight(xp, h, x, window, result, empty)
        return narrow(result, head)
    if batches.is_fit(x.shape, shape, window, groups, positions):
        batches.to_weight(xp, h, x, window, result, empty)
        return narrow(result, head)
    sizes = _sizes(shape, groups, positions)
    reader = _Reader(xp, x, window, sizes, positions, empty)
    total = result.reshape(sizes.groups, sizes.filters, sizes.depth)
    factors = ((_merged(h[part], sizes), reader.columns(part).swapaxes(1, 2)) for part in sizes.parts(n))
    sum_of_products(xp, factors, total, empty)
    return narrow(result, head)


def scratch_elements(data_shape: Extents, weight_shape: Extents, window: Window, groups: int) -> int:
    """How many elements of working memory `to_data` and `to_weight` can use."""
    n, channels = data_shape[:2]
    positions = window.output_extents(data_shape[2:])
    if _is_depthwise(channels, weight_shape, groups):
        return 0
    extents = (data_shape, weight_shape, window)
    ways = (batches, convolution_adjoints)
    fit = [way.is_fit(*extents, groups, positions) for way in ways]
    needed = [int(way.scratch_elements(*extents, positions)) for way, is_fit in zip(ways, fit) if is_fit]
    if not all(fit):
        sizes = _sizes(weight_shape, groups, positions)
        columns = groups * sizes.depth * sizes.step(n) * sizes.positions
        full = math.prod([m + 2 * p for m, p in zip(data_shape[2:], window.pad)]) if any(window.pad) else 0
        needed.append(n * channels * full + columns + math.prod(weight_shape))
    return max(needed)


class _Reader:
    """Reads parts of a batch as columns (groups, depth, images * positions), through one buffer."""

    def __init__(
        self, xp: Any, data: Any, window: Window, sizes: _Columns, positions: Extents, empty: Empty | None = None
    ) -> None:
        self._xp = xp
        self._empty = empty or xp.empty
        self._sizes = sizes
        self._pointwise = _is_pointwise(window) and not any(window.pad)
        self._view = data if self._pointwise else self._windows(data, window, positions)
        self._buffer: Any = None

    def _windows(self, data: Any, window: Window, positions: Extents) -> Any:
        return window_view(self._xp, padded(self._xp, data, window.pad, window.pad), window, positions)

    def columns(self, part: slice) -> Any:
        """The columns of these images; valid until the next call."""
        count, sizes = part.stop - part.start, self._sizes
        if self._pointwise:
            return _merged(self._view[part], sizes)
        view = self._view[part].swapaxes(0, 1)
        spatial = (self._view.ndim - 2) // 2
        order = (0, *range(2, 2 + spatial), 1, *range(2 + spatial, 2 + 2 * spatial))
        view = view.transpose(order)
        if self._buffer is None or self._buffer.shape != view.shape:
            self._buffer = self._empty(view.shape, view.dtype)
        self._buffer[...] = view
        return self._buffer.reshape(sizes.groups, sizes.depth, count * sizes.positions)


def _merged(images: Any, sizes: _Columns) -> Any:
    """(images, groups * rows, *positions) as (groups, rows, images * positions); a view of a single image."""
    count = images.shape[0]
    rows = images.shape[1] // sizes.groups
    if count == 1:
        return images.reshape(sizes.groups, rows, sizes.positions)
    apart = images.reshape(count, sizes.groups, rows, sizes.positions)
    return apart.transpose(1, 2, 0, 3).reshape(sizes.groups, rows, count * sizes.positions)


def _is_pointwise(window: Window) -> bool:
    return max(window.kernel) == 1 and max(window.stride) == 1


def _is_depthwise(channels: int, shape: Extents, groups: int) -> bool:
    return groups > 1 and groups == channels == shape[0]


def _depthwise(xp: Any, x: Any, w: Any, window: Window, positions: Extents, result: Any) -> None:
    """One multiply-add of all positions for each element of the kernel, on a few planes at a time; `x` is padded.

    With a stride of 1 the planes are read as rows of the padded width, end to end: the numbers that belong to no
    position are computed too and left out, which costs less than one short run of numbers for each row.
    """
    n, channels = x.shape[:2]
    if not result.size:
        return
    taps = w.reshape(channels, -1)
    planes = x.reshape(n, channels, -1)
    flat = max(window.stride) == 1
    rows = (*positions[:1], *x.shape[3:]) if flat else positions  # the extents that sums are made for
    step = max(1, min(channels, _BLOCK_BYTES // (math.prod(rows) * x.itemsize)))
    total, product = (xp.empty((step, math.prod(rows)), dtype=x.dtype) for _ in range(2))
    for image in range(n):
        for start in range(0, channels, step):
            stop = min(start + step, channels)
            count = stop - start
            source = planes[image, start:stop] if flat else x[image, start:stop]
            pieces = _flat_pieces(source, window, x.shape[2:], rows) if flat else _pieces(source, window, positions)
            for index, piece in enumerate(pieces):
                factor = taps[start:stop, index].reshape(count, *[1] * (piece.ndim - 1))
                target = (product if index else total)[:count]
                target = target[:, : piece.shape[1]] if flat else target.reshape(count, *positions)
                xp.multiply(piece, factor, out=target)
                if index:
                    whole = total[:count, : piece.shape[1]] if flat else total[:count].reshape(target.shape)
                    xp.add(whole, target, out=whole)
            inner = (slice(None), *[slice(0, m) for m in positions])
            result[image, start:stop] = total[:count].reshape(count, *rows)[inner]


def _pieces(source: Any, window: Window, positions: Extents) -> Iterator[Any]:
    """For each element of the kernel, what it meets: (channels, *positions)."""
    for tap in window.taps():
        yield source[(slice(None), *window.tap_slices(tap, positions))]


def _flat_pieces(source: Any, window: Window, extents: Extents, rows: Extents) -> Iterator[Any]:
    """The same for a stride of 1 and planes (channels, elements), each as one run from the tap's offset on."""
    steps = [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
    offsets = [sum(t * s for t, s in zip(tap, steps)) for tap in window.taps()]
    length = min(math.prod(rows), source.shape[1] - offsets[-1])
    for offset in offsets:
        yield source[:, offset : offset + length]


def _depthwise_to_data(xp: Any, h: Any, w: Any, window: Window, spatial: Extents) -> Any:
    full = [m + 2 * p for m, p in zip(spatial, window.pad)]
    taps = w.reshape(1, w.shape[0], -1, *[1] * len(spatial))
    result = xp.zeros((*h.shape[:2], *full), dtype=h.dtype)
    product = xp.empty_like(h)
    for index, tap in enumerate(window.taps()):
        xp.multiply(h, taps[:, :, index], out=product)
        result[(slice(None), slice(None), *window.tap_slices(tap, h.shape[2:]))] += product
    return unpadded(result, window.pad, spatial)


def _depthwise_to_weight(xp: Any, h: Any, x: Any, window: Window, shape: Extents) -> Any:
    view = window_view(xp, padded(xp, x, window.pad, window.pad), window, h.shape[2:])
    spatial = "xyz"[: h.ndim - 2]
    kernel = "ijk"[: h.ndim - 2]
    return xp.einsum(f"nc{spatial},nc{kernel}{spatial}->c{kernel}", h, view).reshape(shape)
