"""The three products behind Convolution and Deconvolution, on arrays (n, channels, *spatial) of any array library.

They are the derivatives of one trilinear form <head, conv(data, weight)>: `convolve` in head, `to_data` in data,
`to_weight` in weight. Weights are (filters, channels / groups, *kernel). Large batches go image by image, so that the
columns of one stay in cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.windows import (
    Extents,
    Window,
    from_columns,
    padded,
    to_columns,
    unpadded,
    window_view,
)

_CHUNK_ELEMENTS = 1 << 21


def convolve(xp: Any, data: Any, weight: Any, window: Window, groups: int) -> Any:
    """The convolution of `data` with `weight`: (n, filters, *positions)."""
    x, w = widen(xp, data, weight)
    positions = window.output_extents(x.shape[2:])
    n, filters = x.shape[0], w.shape[0]
    if _is_depthwise(x.shape[1], w, groups):
        return narrow(_depthwise(xp, x, w, window, positions), data)
    result = xp.empty((n, filters, *positions), dtype=x.dtype)
    grouped = w.reshape(groups, filters // groups, -1)
    for part in _chunks(n, grouped.shape[0] * grouped.shape[2] * math.prod(positions)):
        columns = to_columns(xp, x[part], window, positions)
        count = columns.shape[0]
        target = result[part].reshape(count, groups, filters // groups, -1)
        xp.matmul(grouped, columns.reshape(count, groups, grouped.shape[2], -1), out=target)
    return narrow(result, data)


def to_data(xp: Any, head: Any, weight: Any, window: Window, groups: int, spatial: Extents) -> Any:
    """The adjoint in the data: (n, channels, *spatial) from `head` (n, filters, *positions)."""
    h, w = widen(xp, head, weight)
    n, filters, positions = h.shape[0], w.shape[0], h.shape[2:]
    channels = w.shape[1] * groups
    if _is_depthwise(channels, w, groups):
        return narrow(_depthwise_to_data(xp, h, w, window, spatial), head)
    result = xp.empty((n, channels, *spatial), dtype=h.dtype)
    flipped = w.reshape(groups, filters // groups, -1).swapaxes(1, 2)
    for part in _chunks(n, groups * flipped.shape[1] * math.prod(positions)):
        piece = h[part]
        columns = xp.matmul(flipped, piece.reshape(len(piece), groups, filters // groups, -1))
        columns = columns.reshape(len(piece), groups * flipped.shape[1], -1)
        result[part] = from_columns(xp, columns, window, positions, channels, spatial)
    return narrow(result, head)


def to_weight(xp: Any, head: Any, data: Any, window: Window, groups: int, shape: Extents) -> Any:
    """The adjoint in the weight: an array of `shape` (filters, channels / groups, *kernel)."""
    h, x = widen(xp, head, data)
    n, filters, positions = h.shape[0], h.shape[1], h.shape[2:]
    if _is_depthwise_shape(x.shape[1], shape, groups):
        return narrow(_depthwise_to_weight(xp, h, x, window, shape), head)
    size = math.prod(shape[1:])
    result = xp.zeros((groups, filters // groups, size), dtype=h.dtype)
    for part in _chunks(n, groups * size * math.prod(positions)):
        columns = to_columns(xp, x[part], window, positions)
        count = columns.shape[0]
        left = h[part].reshape(count, groups, filters // groups, -1)
        right = columns.reshape(count, groups, size, -1)
        if count > 1 and left.shape[3] < 64:  # few positions: one product over (image, position)
            left = left.transpose(1, 2, 0, 3).reshape(groups, filters // groups, -1)
            result += xp.matmul(left, right.transpose(1, 0, 3, 2).reshape(groups, -1, size))
        else:
            for image in range(count):
                result += xp.matmul(left[image], right[image].swapaxes(1, 2))
    return narrow(result.reshape(shape), head)


def _chunks(n: int, elements: int) -> Iterator[slice]:
    """Slices of the batch whose columns have at most `_CHUNK_ELEMENTS` elements, or one image."""
    step = max(1, _CHUNK_ELEMENTS // max(1, elements))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))


def _is_depthwise(channels: int, weight: Any, groups: int) -> bool:
    return _is_depthwise_shape(channels, weight.shape, groups)


def _is_depthwise_shape(channels: int, shape: Extents, groups: int) -> bool:
    return groups > 1 and groups == channels == shape[0]


def _depthwise(xp: Any, x: Any, w: Any, window: Window, positions: Extents) -> Any:
    """One multiply-add of all positions for each element of the kernel."""
    x = padded(xp, x, window.pad, window.pad)
    taps = w.reshape(1, w.shape[0], -1, *[1] * len(positions))
    result = xp.zeros((x.shape[0], x.shape[1], *positions), dtype=x.dtype)
    product = xp.empty_like(result)
    for index, tap in enumerate(window.taps()):
        piece = x[(slice(None), slice(None), *window.tap_slices(tap, positions))]
        result += xp.multiply(piece, taps[:, :, index], out=product)
    return result


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
