"""Index arrays made ready to gather and scatter: cast, brought into range, turned into flat positions. `xp` only."""

from __future__ import annotations

from typing import Any


def to_integers(xp: Any, index: Any) -> Any:
    """`index` as int64 with fractions cut off."""
    return index.astype("int64", copy=False)


def bounded(xp: Any, index: Any, extent: int, mode: str) -> Any:
    """`index` as integers in [0, extent): mode 'clip' takes the nearer end, 'wrap' counts on around the axis."""
    whole = to_integers(xp, index)
    return whole % extent if mode == "wrap" else xp.minimum(xp.maximum(whole, 0), extent - 1)


def wrapped_once(xp: Any, index: Any, extent: int) -> Any:
    """`index` as integers, negative ones counted from the end."""
    whole = to_integers(xp, index)
    return xp.where(whole < 0, whole + extent, whole)


def positions_along(xp: Any, index: Any, outer: int, extent: int, inner: int) -> Any:
    """Flat positions in an array (outer, extent, inner) of the elements `index` (outer, k, inner) along the middle.

    Each of the three extents of `index` may also be 1, and stands for all then.
    """
    rows = xp.arange(outer).reshape(-1, 1, 1)
    columns = xp.arange(inner).reshape(1, 1, -1)
    return (rows * extent + index) * inner + columns


def positions_of_tuples(xp: Any, index: Any, extents: tuple[int, ...]) -> Any:
    """Flat positions, in an array of shape `extents`, of the index tuples `index[:, k]`."""
    flat = wrapped_once(xp, index[0], extents[0])
    for row, extent in zip(index[1:], extents[1:]):
        flat = flat * extent + wrapped_once(xp, row, extent)
    return flat
