"""Convolution of few channels: what a row of the kernel meets is copied once for all rows of the kernel.

Columns repeat the data as often as the kernel has elements, in short runs where channels are few: that takes as long as
the products. Here a strip holds, for each column of positions, what one row of the kernel meets at every row of the
data. What the whole kernel meets at a position then lies together, and so do positions that are far enough apart for
this not to overlap: those are rows of one matrix. So the positions of a column are taken in turns. Results are written
a column of positions at a time, which makes finishing them slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autohybrid.tensor.channels_last.layer import STEP_BYTES, Border, Finish, Layer, Piece
from autohybrid.tensor.channels_last.steps import even_part
from autohybrid.tensor.channels_last.weights import filters_last

#: Lengths of what a row of the kernel meets for which strips are better than columns.
_SHORTEST, _LONGEST = 16, 64
#: Products have at least this many rows, and are small enough for BLAS to multiply without packing.
_LEAST_ROWS, _PRODUCTS = 16, 1_000_000
#: Numbers between rows of results: without a gap, all rows of a column often lie in a few lines of the first cache.
_GAP = 16


class _Bound(NamedTuple):
    """The views of one step, and how many numbers of the bias its rows take."""

    source: Any
    strip: Any
    left: Any
    right: Any
    piece: Piece
    bias: int


@dataclass(frozen=True)
class Strips:
    """The strategy for short rows of the kernel, without gaps or groups."""

    layer: Layer
    finish: Finish

    @property
    def border(self) -> Border:
        """The padding, and what whole turns reach below it."""
        top, _, left, right = self.layer.border
        return Border(top, max(0, self._height - top - self.layer.data[1]), left, right)

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """(kernel * channels, filters)."""
        return (self.layer.window.kernel[0] * self._run, self.layer.filters)

    @property
    def bias_repeats(self) -> int:
        """A bias for each position of a row of a step."""
        return self._width

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight as one matrix."""
        return np.ascontiguousarray(filters_last(weight, scale).reshape(self.packed_shape))

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory for a strip, and for results that are not finished or belong to no position."""
        turns, rows = self._turns
        is_done = turns * rows == self.layer.positions[0] and self.finish == Finish()
        results = (0,) if is_done else (turns * rows, self._width * self.layer.filters + _GAP)
        return ((self._width, self._height, self._run), results)

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> tuple[_Bound, ...]:
        """The views of every step: some columns of an image."""
        images, across = self.layer.data[0], self.layer.positions[1]
        return tuple(
            self._bind_step(image, slice(x, min(across, x + self._width)), data, output, residual, scratch)
            for image in range(images)
            for x in range(0, across, self._width)
        )

    def run(self, bound: tuple[_Bound, ...], weight: Any, bias: Any) -> None:
        """Compute the output."""
        finish = self.finish.apply
        for source, strip, left, right, piece, length in bound:
            np.copyto(strip, source)
            np.matmul(left, weight, out=right)
            finish(piece, None if bias is None else bias[:length])

    @property
    def _run(self) -> int:
        """How many numbers a row of the kernel meets."""
        return self.layer.window.kernel[1] * self.layer.data[3]

    @property
    def _turns(self) -> tuple[int, int]:
        """How many turns there are, and how many positions of a column are in each."""
        turns = -(-self.layer.window.kernel[0] // self.layer.window.stride[0])
        return turns, -(-self.layer.positions[0] // turns)

    @property
    def _height(self) -> int:
        """The rows of the data, with borders, that all turns reach."""
        turns, rows = self._turns
        return (turns * rows - 1) * self.layer.window.stride[0] + self.layer.window.kernel[0]

    @cached_property
    def _width(self) -> int:
        """How many columns go in one step."""
        turns, rows = self._turns
        column = 4 * (self._height * self._run + turns * rows * self.layer.filters)
        return even_part(self.layer.positions[1], max(1, STEP_BYTES // column))

    def _bind_step(
        self, image: int, columns: slice, data: Any, output: Any, residual: Any, scratch: Sequence[Any]
    ) -> _Bound:
        (sy, sx), (down, filters) = self.layer.window.stride, (self.layer.positions[0], self.layer.filters)
        (turns, rows), count = self._turns, columns.stop - columns.start
        strip = scratch[0][:count]
        _, y, x, c = data.strides
        view = np.lib.stride_tricks.as_strided
        source = view(data[image, :, columns.start * sx :], strip.shape, (x * sx, y, c))
        across, along, each = strip.strides
        depth = self.packed_shape[0]
        left = view(strip, (turns, count, rows, depth), (sy * along, across, turns * sy * along, each))
        target = output[image, :, columns]
        values = target
        if scratch[1].size:
            values = scratch[1][:, : count * filters].reshape(turns * rows, count, filters)
        row, position, each = values.strides
        right = view(values, (turns, count, rows, filters), (row, position, turns * row, each))
        shape: tuple[int, ...] = (down, count * filters)
        if output.strides[2] != filters * output.itemsize:  # some of more filters: no long rows
            shape = (down, count, filters)
        added = None if residual is None else residual[image, :, columns].reshape(shape)
        piece = Piece(values[:down].reshape(shape), added, target.reshape(shape))
        return _Bound(source, strip, left, right, piece, shape[-1])


def is_fit(layer: Layer) -> bool:
    """Whether strips are better than columns."""
    window = layer.window
    if layer.groups != 1 or window.dilate != (1, 1) or window.kernel[0] == 1:
        return False
    strips = Strips(layer, Finish())
    rows, depth = strips._turns[1], strips.packed_shape[0]
    return _SHORTEST <= strips._run <= _LONGEST and rows >= _LEAST_ROWS and rows * depth * layer.filters <= _PRODUCTS
