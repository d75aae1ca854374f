"""Ranges of axes as `slice` operators and their inference understand them. Knows no array library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from autohybrid.errors import MXNetError


def normalize_range(begin: int | None, end: int | None, step: int | None, extent: int) -> tuple[int, int, int]:
    """`begin:end:step` of an axis of `extent` elements as (first, number of elements, step).

    Negative bounds count from the end; bounds outside the axis are cut to it, as Python does. Raises MXNetError for
    step 0.
    """
    stride = 1 if step is None else step
    if stride == 0:
        raise MXNetError("`step` must not be 0")
    start, stop, _ = slice(begin, end, stride).indices(extent)
    count = len(range(start, stop, stride))
    return start, count, stride


def normalize_ranges(
    begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None], shape: Sequence[int]
) -> list[tuple[int, int, int]]:
    """`normalize_range` for each leading axis that `begin` and `end` speak of. Unknown extents (-1) are left out.

    Raises MXNetError when the three have different lengths or are longer than `shape`.
    """
    if not len(begin) == len(end) <= len(shape):
        raise MXNetError(
            f"`begin` {tuple(begin)} and `end` {tuple(end)} must be of one length, at most the {len(shape)} "
            f"dimensions of shape {tuple(shape)}"
        )
    if step and len(step) != len(begin):
        raise MXNetError(f"`step` {tuple(step)} must be as long as `begin` {tuple(begin)}")
    strides = step or (None,) * len(begin)
    return [
        (0, -1, 1) if extent == -1 else normalize_range(b, e, s, extent)
        for b, e, s, extent in zip(begin, end, strides, shape)
    ]


def sliced_shape(
    begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None], shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The shape of a slice; unknown extents stay unknown unless the whole axis is taken."""
    ranges = normalize_ranges(begin, end, step, shape)
    return (*[count for _, count, _ in ranges], *shape[len(ranges) :])


def slice_key(
    begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None], shape: Sequence[int]
) -> tuple[slice, ...]:
    """The subscript for an array of `shape` (all extents known)."""
    return _slice_key(tuple(begin), tuple(end), tuple(step), tuple(shape))


@lru_cache(4096)
def _slice_key(
    begin: tuple[int | None, ...], end: tuple[int | None, ...], step: tuple[int | None, ...], shape: tuple[int, ...]
) -> tuple[slice, ...]:
    key = []
    for first, count, stride in normalize_ranges(begin, end, step, shape):
        if not count:  # backwards from in front of the axis, `first` would be -1: its end
            key.append(slice(0, 0))
            continue
        last = first + count * stride
        key.append(slice(first, last if last >= 0 else None, stride))
    return tuple(key)
