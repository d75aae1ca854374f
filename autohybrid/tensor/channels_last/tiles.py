"""Matrix products cut into tiles: data (rows, depth) times a weight (depth, filters) that is laid out for them.

BLAS multiplies tiles of up to about a million products without copying them first, which is what costs most where one
side is small. A tile of the weight must stay in the nearest cache while the tiles of the data pass. Knows no operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: The number of products up to which BLAS multiplies without packing.
_PRODUCTS = 1_000_000
#: Elements of a tile of the weight; deeper weights are left to BLAS, which packs them well for many rows.
_TILE_ELEMENTS = 1 << 13
#: With fewer rows than these packing costs as much as it saves, so deep weights are cut too: into a few parts, or, with
#: few rows, into as many as it takes.
_MANY_ROWS, _FEW_ROWS = 256, 128
_MOST_PARTS = 4
_SMALL_TILE_ELEMENTS = 9 << 10
#: With so few filters packing the data costs as much as it saves, for any number of rows.
_FEW_FILTERS = 128
_LEAST_ROWS, _MOST_ROWS = 24, 200
#: Up to so many rows all go into one tile of data, and no tile of the weight is read twice.
_ONE_TILE = 60


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a weight is cut: `parts` along the depth, whose products are added up, and `width` filters a tile."""

    depth: int
    filters: int
    parts: int
    width: int

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """The shape of a packed weight: (parts, 1, filters / width, depth / parts, width)."""
        return (self.parts, 1, self.filters // self.width, self.depth // self.parts, self.width)

    def pack(self, weight: Any) -> Any:
        """A weight (..., depth, filters) as (..., *packed_shape), contiguous."""
        parts, _, across, deep, width = self.packed_shape
        cut = weight.reshape(*weight.shape[:-2], parts, deep, across, width)
        return np.ascontiguousarray(np.moveaxis(cut, -2, -3)[..., :, None, :, :, :])

    def rows(self, count: int) -> int:
        """How many of `count` rows go into a tile; all of them where no fitting number divides `count`."""
        deep = self.depth // self.parts
        if deep * self.width > _SMALL_TILE_ELEMENTS:
            return count
        limit = min(_MOST_ROWS, _PRODUCTS // (self.width * deep))
        return next((d for d in range(limit, _LEAST_ROWS - 1, -1) if count % d == 0), count)

    def partial_shape(self, rows: int) -> tuple[int, ...] | None:
        """The shape of the memory for the products of the parts; None where there is only one."""
        return None if self.parts == 1 else (self.parts, rows, self.filters)

    def bind(self, data: Any, result: Any, partial: Any) -> tuple[Any, Any]:
        """The views that `multiply` takes, of data (..., rows, depth) and a result (..., rows, filters).

        The rows of both may lie apart, the elements of a row may not. `partial` is memory of `partial_shape`.
        """
        parts, _, across, deep, width = self.packed_shape
        *batch, count, _ = data.shape
        rows = self.rows(count)
        axes = len(batch)
        left = _cut(data, (count // rows, rows), (parts, deep))  # (..., blocks, rows, parts, deep)
        left = left.transpose(*range(axes), axes + 2, axes, axes + 1, axes + 3)[..., None, :, :]
        goal = result[..., None, :, :] if parts == 1 else partial
        right = _cut(goal, (count // rows, rows), (across, width))  # (..., parts, blocks, rows, across, width)
        return left, np.swapaxes(right, -3, -2)


def _cut(matrix: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
    """A view of a matrix (..., r, c) as (..., *rows, *columns)."""
    *batch, down, across = matrix.strides
    shape = (*matrix.shape[:-2], *rows, *columns)
    strides = (*batch, down * rows[1], down, across * columns[1], across)
    return np.lib.stride_tricks.as_strided(matrix, shape, strides)


def make_tiling(rows: int, depth: int, filters: int) -> Tiling:
    """The tiles for products of about `rows` rows."""
    whole = Tiling(depth, filters, 1, filters)
    if filters * depth <= _TILE_ELEMENTS:
        return whole
    if rows >= _MANY_ROWS and filters > _FEW_FILTERS:
        width = next((w for w in (64, 32) if depth * w <= _TILE_ELEMENTS), None)
        return whole if width is None else Tiling(depth, filters, 1, _width(filters, width))
    width = _width(filters, 32)
    limit = max(1, _SMALL_TILE_ELEMENTS // width)
    if rows <= _ONE_TILE and filters % 64 == 0:  # one turn over the weight: longer rows of it come faster
        width, limit = 64, _PRODUCTS // (64 * _ONE_TILE)
    parts = next((p for p in range(1, depth + 1) if depth % p == 0 and depth // p <= limit), 1)
    cut = Tiling(depth, filters, parts, width)
    if rows >= _FEW_ROWS and filters <= _FEW_FILTERS:
        return cut if cut.rows(rows) < rows else whole
    return whole if depth // parts < 64 or (rows >= _FEW_ROWS and parts > _MOST_PARTS) else cut


def _width(filters: int, wanted: int) -> int:
    if filters <= wanted:
        return filters
    return next((w for w in range(wanted, 15, -1) if filters % w == 0 and w % 8 == 0), filters)


def multiplier(parts: int) -> Callable[[Any, Any, Any, Any, Any], None]:
    """The function that multiplies bound data by a packed weight: (left, weight, right, partial, result)."""
    return _multiply if parts == 1 else _multiply_and_add


def _multiply(left: Any, weight: Any, right: Any, partial: Any, result: Any) -> None:
    np.matmul(left, weight, out=right)


def _multiply_and_add(left: Any, weight: Any, right: Any, partial: Any, result: Any) -> None:
    np.matmul(left, weight, out=right)
    np.add.reduce(partial, axis=-3, out=result)
