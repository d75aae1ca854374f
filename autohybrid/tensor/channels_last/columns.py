"""Convolution by columns: what each position meets becomes a row, and rows go through one product with the weight.

Kernels of one element over data without gaps need no columns. Some rows of positions go at a time, so that columns and
results are finished while they are in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autohybrid.tensor.channels_last.layer import STEP_BYTES, Border, Finish, Layer, Piece
from autohybrid.tensor.channels_last.steps import Step, make_steps
from autohybrid.tensor.channels_last.tiles import Tiling, make_tiling, multiplier
from autohybrid.tensor.channels_last.weights import filters_last

#: A weight is read once a step, so steps have at least this many positions.
_LEAST_POSITIONS = 256
#: Rows of an image that are shorter are copied together before they are multiplied.
_LEAST_ROW = 24
#: Copies of fewer elements than this, one row of a kernel after the other, cost more for the start than for the copy.
_SHORT_RUN = 8


class _Bound(NamedTuple):
    """The views of one step. `source` is None where the data need no copy."""

    source: Any
    columns: Any
    left: Any
    right: Any
    partial: Any
    product: Any
    piece: Piece


@dataclass(frozen=True)
class Columns:
    """The strategy for kernels of any size, stride, dilation and number of groups."""

    layer: Layer
    finish: Finish

    @property
    def border(self) -> Border:
        """The border of zeros that the data must have."""
        return self.layer.border

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """(groups, *tiles)."""
        return (self.layer.groups, *self._tiling.packed_shape)

    @property
    def bias_repeats(self) -> int:
        """A bias for each position of a row."""
        return self.layer.positions[1]

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight of each group as tiles of a matrix (kernel * channels, filters)."""
        groups = self.layer.groups
        return self._tiling.pack(filters_last(weight, scale, groups).reshape(groups, self._depth, -1))

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory for columns, products of parts, and products: (groups, rows, ...) of the largest step."""
        images, rows = self._steps[0].extents
        count = images * rows * self.layer.positions[1]
        partial = self._tiling.partial_shape(count) or (0,)
        columns = (0,) if self._needs_no_columns else (self.layer.groups, count, self._depth)
        return (columns, (self.layer.groups, *partial), (count, self.layer.filters))

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> tuple[_Bound, ...]:
        """The views of every step."""
        return tuple([self._bind_step(step, data, output, residual, scratch) for step in self._steps])

    def run(self, bound: tuple[_Bound, ...], weight: Any, bias: Any) -> None:
        """Compute the output."""
        finish, multiply = self.finish.apply, multiplier(self._tiling.parts)
        for source, columns, left, right, partial, product, piece in bound:
            if source is not None:
                np.copyto(columns, source)
            multiply(left, weight, right, partial, product)
            finish(piece, bias)

    @property
    def _depth(self) -> int:
        return math.prod(self.layer.window.kernel) * self.layer.data[3] // self.layer.groups

    @property
    def _needs_no_columns(self) -> bool:
        window = self.layer.window
        simple = max(window.kernel) == 1 and max(window.stride) == 1 and not any(window.pad)
        return simple and self.layer.groups == 1

    @property
    def _runs_are_short(self) -> bool:
        """Whether a row of the kernel meets only few data that lie together."""
        run = self.layer.window.kernel[1] * self.layer.data[3] // self.layer.groups
        return not self._needs_no_columns and run <= _SHORT_RUN

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        layer = self.layer
        down, across = layer.positions
        held = layer.filters + (0 if self._needs_no_columns else self._depth * layer.groups)
        wanted = max(_LEAST_POSITIONS, STEP_BYTES // (4 * held))
        return make_steps(layer.data[0], down, max(1, wanted // across))

    @cached_property
    def _tiling(self) -> Tiling:
        images, rows = self._steps[0].extents
        count = images * rows * self.layer.positions[1]
        return make_tiling(count, self._depth, self.layer.filters // self.layer.groups)

    def _bind_step(self, step: Step, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> _Bound:
        layer, across = self.layer, self.layer.positions[1]
        images, rows = step.extents
        count = images * rows * across
        goal = output[step]
        product = goal.reshape(count, -1) if output.flags.c_contiguous else scratch[2][:count]
        source, columns, matrix = self._matrix(step, data, scratch[0])
        split = product.reshape(count, layer.groups, -1).transpose(1, 0, 2)
        if matrix.ndim == 4:  # rows of an image that lie apart
            split = product.reshape(images, rows, across, -1)
        partial = scratch[1][:, :, :count] if self._tiling.parts > 1 else None
        left, right = self._tiling.bind(matrix, split, partial)
        shape: tuple[int, ...] = (images, rows, -1)
        if output.strides[2] != layer.filters * output.itemsize:  # some of more filters: no long rows
            shape = goal.shape
        added = None if residual is None else residual[step].reshape(shape)
        target = goal.reshape(shape)
        piece = Piece(target if output.flags.c_contiguous else product.reshape(shape), added, target)
        return _Bound(source, columns, left, right, partial, split, piece)

    def _matrix(self, step: Step, data: Any, memory: Any) -> tuple[Any, Any, Any]:
        """What is copied where (None: nothing), and the matrix (groups, count, depth)."""
        layer, window = self.layer, self.layer.window
        images, rows = step.extents
        across = layer.positions[1]
        count = images * rows * across
        if self._needs_no_columns:
            if data.flags.c_contiguous:
                return None, None, data[step].reshape(1, count, -1)
            if across >= _LEAST_ROW and self._tiling.parts == 1:
                return None, None, data[step]
        part = data[step.images, step.rows.start * window.stride[0] :]
        n, y, x, c = part.strides
        (sy, sx), (dy, dx), groups = window.stride, window.dilate, layer.groups
        each = layer.data[3] // groups
        shape = (groups, images, rows, across, *window.kernel, each)
        strides = (c * each, n, y * sy, x * sx, y * dy, x * dx, c)
        source = np.lib.stride_tricks.as_strided(part, shape, strides)
        if self._runs_are_short:  # the positions of an element of the kernel behind each other
            turned = memory.reshape(-1)[: groups * self._depth * count].reshape(groups, self._depth, count)
            goal = turned.reshape(groups, *window.kernel, each, images, rows, across)
            return source.transpose(0, 4, 5, 6, 1, 2, 3), goal, turned.transpose(0, 2, 1)
        matrix = np.empty((groups, count, self._depth), data.dtype) if memory.size == 0 else memory[:, :count]
        return source, matrix.reshape(shape), matrix
