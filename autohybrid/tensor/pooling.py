"""Sums and maxima over sliding windows, and where they came from, on arrays of any array library.

Spatial axes are `first`, `first + 1`...; the other axes are carried along. A `Pool` fixes the windows on each of them.
Maxima, sums and their adjoints go axis by axis where that is the same, which turns k * k passes into k + k.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autohybrid.tensor.pieces import Empty

Extents = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Windows of `kernel` elements, moved by `stride` over `extents` padded by `pad`, `positions` of them an axis."""

    first: int
    extents: Extents
    kernel: Extents
    stride: Extents
    pad: Extents
    positions: Extents

    @property
    def full(self) -> Extents:
        """The padded extents that the windows reach, at least the data and its padding in front."""
        return tuple(
            max(n + p, (m - 1) * s + k)
            for n, k, s, p, m in zip(self.extents, self.kernel, self.stride, self.pad, self.positions)
        )

    def index(self, slices: Extents | list[slice] | tuple[slice, ...]) -> tuple[Any, ...]:
        """A subscript that applies `slices` to the spatial axes."""
        return (*[slice(None)] * self.first, *slices)

    def taps(self) -> Iterator[tuple[Any, ...]]:
        """For each element of the window, in row-major order, the subscript of what it meets at all positions."""
        for tap in itertools.product(*map(range, self.kernel)):
            steps = zip(tap, self.positions, self.stride)
            yield self.index([slice(t, t + (m - 1) * s + 1, s) for t, m, s in steps])


def fill(xp: Any, data: Any, pool: Pool, value: float) -> Any:
    """`data` padded to what the windows reach; itself when nothing is to be added."""
    if pool.full == pool.extents:
        return data
    shape = list(data.shape)
    shape[pool.first : pool.first + len(pool.full)] = pool.full
    result = xp.full(shape, value, dtype=data.dtype)
    result[pool.index([slice(p, p + n) for p, n in zip(pool.pad, pool.extents)])] = data
    return result


def trim(padded: Any, pool: Pool) -> Any:
    """The inverse of `fill`, contiguous."""
    if pool.full == pool.extents:
        return padded
    return padded[pool.index([slice(p, p + n) for p, n in zip(pool.pad, pool.extents)])].copy()


def _lowest(xp: Any, data: Any) -> float:
    """What a window without data gives as its maximum, in MXNet too."""
    return float(xp.finfo(data.dtype).min)


def _axis_steps(pool: Pool, axis: int) -> list[tuple[Any, ...]]:
    before = pool.first + axis
    k, s, m = pool.kernel[axis], pool.stride[axis], pool.positions[axis]
    return [(*[slice(None)] * before, slice(t, t + (m - 1) * s + 1, s)) for t in range(k)]


def window_max(xp: Any, data: Any, pool: Pool, out: Any = None, empty: Empty | None = None) -> Any:
    """The maximum of every window; what lies outside the data does not count.

    It is written into `out` where given; `empty` makes the arrays for the work, see `elements_between`.
    """
    if _covers_all(pool):
        return data.max(axis=_axes(pool), keepdims=True, out=out)
    if out is None and empty is not None:  # what `empty` makes may be used again after this call
        shape = list(data.shape)
        shape[pool.first : pool.first + len(pool.positions)] = pool.positions
        out = xp.empty(shape, dtype=data.dtype)
    empty = empty or xp.empty
    result = fill(xp, data, pool, _lowest(xp, data))
    for axis in reversed(range(len(pool.kernel))):
        steps = _axis_steps(pool, axis)
        reduced = result[steps[0]]
        if len(steps) > 1:
            # The last step gives the result, which must not lie in memory for the work.
            target = empty(reduced.shape, reduced.dtype) if axis else out
            reduced = xp.maximum(reduced, result[steps[1]], out=target)
        for step in steps[2:]:
            xp.maximum(reduced, result[step], out=reduced)
        result = reduced
    if out is None:
        is_fresh = len(_axis_steps(pool, 0)) > 1
        return xp.ascontiguousarray(result) if is_fresh else result.copy()
    if result is not out:
        out[...] = result
    return out


def elements_between(shape: Extents, pool: Pool) -> int:
    """How many elements `window_max` puts into arrays for its work, beside its result."""
    extents, total = list(shape), 0
    extents[pool.first : pool.first + len(pool.full)] = pool.full
    for axis in reversed(range(1, len(pool.kernel))):
        extents[pool.first + axis] = pool.positions[axis]
        total += math.prod(extents)
    return total


def window_sum(xp: Any, data: Any, pool: Pool) -> Any:
    """The sum of every window, zeros outside the data."""
    if _covers_all(pool):
        return data.sum(axis=_axes(pool), keepdims=True)
    result = fill(xp, data, pool, 0)
    for axis in reversed(range(len(pool.kernel))):
        steps = _axis_steps(pool, axis)
        reduced = result[steps[0]] + result[steps[1]] if len(steps) > 1 else result[steps[0]]
        for step in steps[2:]:
            reduced += result[step]
        result = reduced
    return xp.array(result)


def spread(xp: Any, head: Any, pool: Pool) -> Any:
    """The adjoint of `window_sum`: each head added to every element of its window."""
    if _covers_all(pool):
        shape = list(head.shape)
        shape[pool.first : pool.first + len(pool.extents)] = pool.extents
        return xp.array(xp.broadcast_to(head, shape))
    result = head
    for axis, extent in enumerate(pool.full):
        shape = list(result.shape)
        shape[pool.first + axis] = extent
        wider = xp.zeros(shape, dtype=head.dtype)
        for step in _axis_steps(pool, axis):
            wider[step] += result
        result = wider
    return trim(result, pool)


def winners(xp: Any, data: Any, output: Any, pool: Pool) -> Any:
    """Which element of each window (numbered row-major) is its first maximum."""
    padded = fill(xp, data, pool, _lowest(xp, data))
    taps = list(pool.taps())
    number = xp.uint8 if len(taps) <= 256 else xp.int32
    winner = xp.zeros(output.shape, dtype=number)
    for index in reversed(range(len(taps))):  # the first one that fits is written last
        # Integer arithmetic, for a masked write stumbles over every change of the mask.
        winner += (number(index) - winner) * (padded[taps[index]] == output).view(xp.uint8)
    return winner


def max_to_data(xp: Any, head: Any, data: Any, output: Any, pool: Pool, out: Any = None) -> Any:
    """The adjoint of `window_max`: each head goes to the first maximum of its window. Into `out`, where given and
    nothing is padded."""
    shape = list(data.shape)
    shape[pool.first : pool.first + len(pool.full)] = pool.full
    disjoint = all(s >= k for s, k in zip(pool.stride, pool.kernel))
    result = xp.empty(shape, dtype=head.dtype) if out is None or shape != list(out.shape) else out
    covered = [(m - 1) * s + k if k == s else 0 for k, s, m in zip(pool.kernel, pool.stride, pool.positions)]
    if not disjoint or covered != shape[pool.first : pool.first + len(pool.full)]:
        result[...] = 0
    if disjoint:
        _max_to_own(xp, head, fill(xp, data, pool, _lowest(xp, data)), output, pool, result)
        return trim(result, pool)
    winner = winners(xp, data, output, pool)
    product = xp.empty_like(head)
    for index, tap in enumerate(pool.taps()):
        result[tap] += xp.multiply(head, winner == index, out=product)
    return trim(result, pool)


def _max_to_own(xp: Any, head: Any, padded: Any, output: Any, pool: Pool, result: Any) -> None:
    """`max_to_data` where no element is in two windows. The first element of a window with NaN gets its head."""
    first, *taps = pool.taps()
    is_open = (padded[first] != output) > (output != output)  # the windows whose maximum was not met yet
    xp.multiply(head, ~is_open, out=result[first])
    for tap in taps[:-1]:
        differs = padded[tap] != output
        xp.multiply(head, is_open > differs, out=result[tap])
        is_open &= differs
    if taps:
        xp.multiply(head, is_open, out=result[taps[-1]])


def max_from_data(xp: Any, values: Any, data: Any, output: Any, pool: Pool) -> Any:
    """The adjoint of `max_to_data`: for each window, the entry of `values` where `data` has its first maximum."""
    winner = winners(xp, data, output, pool)
    padded = fill(xp, values, pool, 0)
    result = xp.zeros_like(output)
    for index, tap in enumerate(pool.taps()):
        result += padded[tap] * (winner == index)
    return result


def window_sizes(xp: Any, pool: Pool, include_pad: bool, dtype: Any) -> Any:
    """How many elements each window counts: one number, or an array that broadcasts over the output."""
    counts = []
    rank = len(pool.extents)
    for axis, (n, k, s, p, m) in enumerate(zip(pool.extents, pool.kernel, pool.stride, pool.pad, pool.positions)):
        reaches = (m - 1) * s - p + k
        if (include_pad or p == 0) and reaches <= n + (p if include_pad else 0):
            counts.append(k)
            continue
        start = xp.arange(m) * s - p
        end = xp.minimum(start + k, n + p)
        if not include_pad:
            start, end = xp.maximum(start, 0), xp.minimum(end, n)
        shape = [1] * rank
        shape[axis] = m
        counts.append(xp.maximum(end - start, 1).reshape(shape))  # a window without data sums to 0
    total = math.prod(c for c in counts if isinstance(c, int))
    arrays = [c for c in counts if not isinstance(c, int)]
    for array in arrays:
        total = total * array
    if not arrays:
        return total
    trailing = [1] if pool.first == 1 else []
    return total.reshape(*total.shape, *trailing).astype(dtype)  # type: ignore[attr-defined]


def _covers_all(pool: Pool) -> bool:
    return pool.kernel == pool.extents and not any(pool.pad) and all(m == 1 for m in pool.positions)


def _axes(pool: Pool) -> tuple[int, ...]:
    return tuple(range(pool.first, pool.first + len(pool.extents)))
