"""Convolution with kernels of 3 x 3 by Winograd's algorithm: tiles of the output from fewer products.

A tile of m x m positions takes (m + 2)^2 products for each pair of channels instead of 9 m^2. Data, weight and products
go through small fixed matrices (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2015). With m = 4
the result differs by about 1e-5 of the largest number of the layer, with m = 2 by 1e-6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from autohybrid.tensor.channels_last.layer import STEP_BYTES, Border, Finish, Layer, Piece
from autohybrid.tensor.channels_last.steps import Step, make_steps
from autohybrid.tensor.channels_last.tiles import Tiling, make_tiling
from autohybrid.tensor.channels_last.weights import filters_last

#: The weight of a tile is read once a step, so steps have at least this many tiles where it is large.
_LEAST_TILES = 64
#: Numbers between what belongs to two tiles: without a gap, the same product of all tiles lies in a few lines of the
#: first cache, for channels are often a power of two.
_GAP = 16


class Transforms(NamedTuple):
    """The matrices for one size of tile: of the data, of the weight, of the products."""

    data: Any
    weight: Any
    product: Any


@lru_cache(8)
def transforms(size: int, dtype: str) -> Transforms:
    """For tiles of 2 (interpolation at 0, 1, -1) or 4 (also at 2, -2)."""
    if size == 2:
        data = [[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, -1, 0, 1]]
        weight = [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]]
        product = [[1, 1, 1, 0], [0, 1, -1, 1]]
    else:
        data = [
            [4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1],
        ]  # fmt: skip
        weight = [
            [1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1],
        ]  # fmt: skip
        product = [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
    return Transforms(np.array(data, dtype), np.array(weight, dtype), np.array(product, dtype))


class _Bound(NamedTuple):
    """The views of one step, in the order in which they are filled."""

    windows: Any
    rows: Any
    rows_flat: Any
    columns: Any
    left: Any
    right: Any
    constant: Any
    sums: Any
    tiles: Any
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Winograd:
    """The strategy for kernels of 3 x 3 that move by one: tiles of `size` x `size` positions."""

    layer: Layer
    finish: Finish
    size: int

    @property
    def border(self) -> Border:
        """The padding, and what whole tiles reach behind it."""
        top, _, left, _ = self.layer.border
        (_, height, width, _), (down, across) = self.layer.data, self.tiles
        return Border(
            top, max(0, down * self.size + 2 - height - top), left, max(0, across * self.size + 2 - width - left)
        )

    @property
    def tiles(self) -> tuple[int, int]:
        """How many tiles cover the positions."""
        down, across = self.layer.positions
        return -(-down // self.size), -(-across // self.size)

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """A matrix for each of the (size + 2)^2 products, in tiles."""
        return (self._reach**2, *self._tiling.packed_shape)

    @property
    def bias_repeats(self) -> int:
        """One bias: it is added to one product of each tile."""
        return 1

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The transformed weight."""
        matrix = transforms(self.size, weight.dtype.name).weight
        filters, channels = weight.shape[:2]
        moved = np.kron(matrix, matrix) @ filters_last(weight, scale).reshape(9, channels * filters)
        return self._tiling.pack(moved.reshape(self._reach**2, channels, filters))

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory for two stages at a time: each stage reads what the one before has written into the other."""
        layer, reach = self.layer, self._reach
        images, down = self._steps[0].extents
        count = images * down * self.tiles[1]
        half = (count * (reach**2 * max(layer.data[3], layer.filters) + _GAP),)
        partial = self._tiling.partial_shape(count)
        return (half, half, (0,) if partial is None else (reach**2, *partial))

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> tuple[_Bound, ...]:
        """The views of every step."""
        return tuple([self._bind_step(step, data, output, residual, scratch) for step in self._steps])

    def run(self, bound: tuple[_Bound, ...], weight: Any, bias: Any) -> None:
        """Compute the output."""
        matrices, finish = transforms(self.size, weight.dtype.name), self.finish.apply
        for windows, rows, rows_flat, columns, left, right, constant, sums, tiles, pieces in bound:
            np.matmul(matrices.data, windows, out=rows)
            np.matmul(matrices.data, rows_flat, out=columns)
            np.matmul(left, weight, out=right)
            if bias is not None:  # the product at (1, 1) is in all positions of the tile, once
                np.add(constant, bias, out=constant)
            np.matmul(self._whole_product(weight.dtype.name), sums, out=tiles)
            for piece in pieces:
                finish(piece, None)

    @property
    def _reach(self) -> int:
        return self.size + 2

    def _whole_product(self, dtype: str) -> Any:
        return _kron(self.size, dtype)

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        layer, (down, across) = self.layer, self.tiles
        channels = layer.data[3] + layer.filters
        wanted = STEP_BYTES // (4 * self._reach**2 * channels)
        large = 4 * self._reach**2 * layer.data[3] * layer.filters > STEP_BYTES
        return make_steps(layer.data[0], down, max(1, max(wanted, _LEAST_TILES if large else 1) // across))

    @cached_property
    def _tiling(self) -> Tiling:
        images, down = self._steps[0].extents
        found = make_tiling(images * down * self.tiles[1], self.layer.data[3], self.layer.filters)
        return Tiling(found.depth, found.filters, 1, found.width)

    def _bind_step(self, step: Step, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> _Bound:
        layer, size, reach = self.layer, self.size, self._reach
        channels, filters = layer.data[3], layer.filters
        images, down = step.extents
        across = self.tiles[1]
        count = images * down * across
        part = data[step.images, step.rows.start * size :]
        n, y, x, c = part.strides
        windows = np.lib.stride_tricks.as_strided(
            part, (images, down, across, reach, reach, channels), (n, size * y, size * x, y, x, c)
        )
        first, second = scratch[:2]
        rows = _part(first, windows.shape)
        matrix = _apart(second, (count, reach**2, channels))
        columns = np.lib.stride_tricks.as_strided(
            matrix, (count, reach, reach * channels), (matrix.strides[0], reach * matrix.strides[1], c)
        )
        sums = _apart(first, (count, reach**2, filters))
        left, right = self._tiling.bind(matrix.transpose(1, 0, 2), sums.transpose(1, 0, 2), None)
        tiles = _part(second, (count, size**2, filters))
        shaped = tiles.reshape(images, down, across, size, size, filters)
        return _Bound(
            windows, rows, rows.reshape(count, reach, -1), columns, left, right, sums[:, reach + 1], sums, tiles,
            tuple(self._pieces(step, shaped, output, residual)),
        )  # fmt: skip

    def _pieces(self, step: Step, tiles: Any, output: Any, residual: Any) -> list[Piece]:
        """Where the tiles of a step go: tiles at the end of a row or column may reach beyond the output."""
        down, across = self.layer.positions
        found = []
        arrays = [array for array in (residual, output) if array is not None]
        apart = any(array.strides[2] != array.shape[3] * array.itemsize for array in arrays)  # some of more filters
        for rows, height in _runs(step.rows, down, self.size):
            for columns, width in _runs(slice(0, self.tiles[1]), across, self.size):
                own = slice(rows.start - step.rows.start, rows.stop - step.rows.start)
                values = tiles[:, own, columns, :height, :width]
                views = [values] + [
                    None if array is None else self._in_tiles(array[step.images], rows, columns, height, width)
                    for array in (residual, output)
                ]
                found.append(Piece(*views if apart else map(_merged, views)))
        return found

    def _in_tiles(self, array: Any, rows: slice, columns: slice, height: int, width: int) -> Any:
        """The view of an output (n, down, across, filters) as tiles (n, rows, columns, height, width, filters)."""
        n, y, x, c = array.strides
        size, filters = self.size, array.shape[3]
        start = array[:, rows.start * size :, columns.start * size :]
        shape = (array.shape[0], rows.stop - rows.start, columns.stop - columns.start, height, width, filters)
        return np.lib.stride_tricks.as_strided(start, shape, (n, size * y, size * x, y, x, c))


def _runs(tiles: slice, positions: int, size: int) -> list[tuple[slice, int]]:
    """The tiles that lie wholly within `positions`, then the one that is cut off, each with its extent."""
    whole = min(tiles.stop, positions // size)
    runs = [(slice(tiles.start, whole), size)] if whole > tiles.start else []
    if whole < tiles.stop:
        runs.append((slice(whole, tiles.stop), positions - whole * size))
    return runs


def _merged(tiles: Any) -> Any:
    """Tiles (..., width, filters) with the last two axes as one; None as it is."""
    if tiles is None:
        return None
    shape = (*tiles.shape[:-2], tiles.shape[-2] * tiles.shape[-1])
    return np.lib.stride_tricks.as_strided(tiles, shape, (*tiles.strides[:-2], tiles.strides[-1]))


def _apart(memory: Any, shape: tuple[int, int, int]) -> Any:
    """The beginning of flat memory, in this shape with a gap behind each of the first."""
    count, rows, columns = shape
    each = rows * columns + _GAP
    return memory[: count * each].reshape(count, each)[:, : rows * columns].reshape(shape)


def _part(memory: Any, shape: Sequence[int]) -> Any:
    """The beginning of flat memory, in this shape."""
    return memory[: int(np.prod(shape))].reshape(shape)


@lru_cache(8)
def _kron(size: int, dtype: str) -> Any:
    product = transforms(size, dtype).product
    return np.kron(product, product)
