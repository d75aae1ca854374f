"""Sliding windows over the trailing axes of arrays: the geometry and the data movement of convolution and pooling.

Arrays are (n, channels, *spatial). A `Window` holds one tuple entry a spatial axis. Knows no operator.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autohybrid.errors import MXNetError

Extents = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A kernel of `kernel` elements, `dilate` apart, moved by `stride` over data padded by `pad` on both sides."""

    kernel: Extents
    stride: Extents
    dilate: Extents
    pad: Extents

    @property
    def span(self) -> Extents:
        """The extent of data that one position of the kernel covers."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilate))

    def output_extents(self, spatial: Extents) -> Extents:
        """How many positions fit on each axis. Raises MXNetError when the kernel exceeds the padded data."""
        result = []
        for axis, (n, span, stride, pad) in enumerate(zip(spatial, self.span, self.stride, self.pad)):
            if n == -1:
                result.append(-1)
                continue
            if n + 2 * pad < span:
                raise MXNetError(
                    f"the kernel spans {span} elements of spatial axis {axis}, more than the {n + 2 * pad} there are"
                )
            result.append((n + 2 * pad - span) // stride + 1)
        return tuple(result)

    def input_extents(self, positions: Extents) -> Extents:
        """The data that `positions` steps of the kernel cover exactly, padding taken off."""
        return tuple(
            -1 if n == -1 else (n - 1) * s + span - 2 * p
            for n, s, span, p in zip(positions, self.stride, self.span, self.pad)
        )

    def taps(self) -> list[Extents]:
        """The offsets of the kernel's elements, in row-major order."""
        return list(itertools.product(*[range(0, k * d, d) for k, d in zip(self.kernel, self.dilate)]))

    def tap_slices(self, tap: Extents, positions: Extents) -> tuple[slice, ...]:
        """The slices of the padded data that element `tap` of the kernel meets at all positions."""
        return tuple(slice(t, t + (n - 1) * s + 1, s) for t, n, s in zip(tap, positions, self.stride))


@lru_cache(4096)
def make_window(rank: int, kernel: Extents, stride: Extents, dilate: Extents, pad: Extents) -> Window:
    """A Window with defaults filled in. Raises MXNetError when lengths differ or an extent is not positive."""
    if len(kernel) != rank:
        raise MXNetError(f"`kernel` has {len(kernel)} entries for data of {rank} spatial axes")
    parts = {
        "kernel": kernel,
        "stride": stride or (1,) * rank,
        "dilate": dilate or (1,) * rank,
        "pad": pad or (0,) * rank,
    }
    for name, values in parts.items():
        if len(values) != rank:
            raise MXNetError(f"`{name}` has {len(values)} entries, `kernel` has {rank}")
        least = 0 if name == "pad" else 1
        if min(values) < least:
            raise MXNetError(f"`{name}` must be at least {least} everywhere, got {values}")
    return Window(**parts)


def padded(xp: Any, data: Any, before: Extents, after: Extents, value: float = 0) -> Any:
    """`data` with its spatial axes extended by `value`; itself when there is nothing to add."""
    if not any(before) and not any(after):
        return data
    spatial = data.shape[2:]
    shape = (*data.shape[:2], *[b + n + a for b, n, a in zip(before, spatial, after)])
    result = xp.full(shape, value, dtype=data.dtype) if value else xp.zeros(shape, dtype=data.dtype)
    result[(slice(None), slice(None), *[slice(b, b + n) for b, n in zip(before, spatial)])] = data
    return result


def window_view(xp: Any, data: Any, window: Window, positions: Extents) -> Any:
    """A view (n, channels, *kernel, *positions) of padded data: every element under every position."""
    head, strides = data.shape[:2], data.strides
    steps = strides[2:]
    return xp.lib.stride_tricks.as_strided(
        data,
        (*head, *window.kernel, *positions),
        (*strides[:2], *[t * d for t, d in zip(steps, window.dilate)], *[t * s for t, s in zip(steps, window.stride)]),
    )


def to_columns(xp: Any, data: Any, window: Window, positions: Extents) -> Any:
    """The windows of unpadded data as (n, channels * kernel, positions); a view where the kernel is one element."""
    n, channels = data.shape[:2]
    data = padded(xp, data, window.pad, window.pad)
    view = window_view(xp, data, window, positions)
    return view.reshape(n, channels * math.prod(window.kernel), math.prod(positions))


def from_columns(xp: Any, columns: Any, window: Window, positions: Extents, channels: int, spatial: Extents) -> Any:
    """The adjoint of `to_columns`: columns (n, channels * kernel, positions) added up where they came from."""
    n = columns.shape[0]
    if max(window.kernel) == 1 and max(window.stride) == 1 and not any(window.pad):
        return columns.reshape(n, channels, *spatial)
    parts = columns.reshape(n, channels, math.prod(window.kernel), *positions)
    full = [m + 2 * p for m, p in zip(spatial, window.pad)]
    result = xp.zeros((n, channels, *full), dtype=columns.dtype)
    for index, tap in enumerate(window.taps()):
        result[(slice(None), slice(None), *window.tap_slices(tap, positions))] += parts[:, :, index]
    return unpadded(result, window.pad, spatial)


def unpadded(data: Any, before: Extents, spatial: Extents) -> Any:
    """The inner part of padded data, as a contiguous array."""
    if data.shape[2:] == tuple(spatial):
        return data
    return data[(slice(None), slice(None), *[slice(b, b + n) for b, n in zip(before, spatial)])].copy()
