"""Depthwise convolution: every channel with a small kernel of its own, by sums of products over shifted views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autohybrid.tensor.channels_last.layer import Border, Finish, Layer, Piece
from autohybrid.tensor.channels_last.steps import Step, make_steps
from autohybrid.tensor.channels_last.weights import filters_last

#: Bytes of the results of one step: they are finished while they are in the first or second cache.
_STEP_BYTES = 1 << 17


class _Bound(NamedTuple):
    windows: Any
    result: Any
    piece: Piece


@dataclass(frozen=True)
class Depthwise:
    """The strategy for as many groups as channels and filters."""

    layer: Layer
    finish: Finish

    @property
    def border(self) -> Border:
        """The border of zeros that the data must have."""
        return self.layer.border

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """(*kernel, columns, channels), merged where positions follow each other in memory."""
        across = self.layer.positions[1]
        if self._is_dense:
            return (*self.layer.window.kernel, across * self.layer.filters)
        return (*self.layer.window.kernel, self.layer.filters)

    @property
    def bias_repeats(self) -> int:
        """A bias for each position of a row."""
        return self.layer.positions[1]

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight (*kernel, channels), repeated for each position of a row where the products are taken by rows."""
        taps = filters_last(weight, scale)[0, :, :, 0]
        return np.ascontiguousarray(np.tile(taps, (1, 1, self.layer.positions[1])) if self._is_dense else taps)

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory for the results of a step."""
        images, rows = self._steps[0].extents
        return ((images, rows, self.layer.positions[1] * self.layer.filters),)

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> tuple[_Bound, ...]:
        """The views of every step."""
        return tuple([self._bind_step(step, data, output, residual, scratch[0]) for step in self._steps])

    def run(self, bound: tuple[_Bound, ...], weight: Any, bias: Any) -> None:
        """Compute the output."""
        finish = self.finish.apply
        indices = "ijnqx,ijx->nqx" if self._is_dense else "ijnqxc,ijc->nqxc"
        for windows, result, piece in bound:
            np.einsum(indices, windows, weight, out=result)
            finish(piece, bias)

    @property
    def _is_dense(self) -> bool:
        """Whether neighbouring positions meet neighbouring data."""
        return self.layer.window.stride[1] == 1

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        n, down, across, filters = self.layer.output
        return make_steps(n, down, max(1, _STEP_BYTES // (4 * across * filters)))

    def _bind_step(self, step: Step, data: Any, output: Any, residual: Any, memory: Any) -> _Bound:
        window, (_, _, across, filters) = self.layer.window, self.layer.output
        images, rows = step.extents
        (sy, sx), (dy, dx) = window.stride, window.dilate
        part = data[step.images, step.rows.start * sy :]
        n, y, x, c = part.strides
        shape: tuple[int, ...] = (*window.kernel, images, rows, across, filters)
        strides: tuple[int, ...] = (y * dy, x * dx, n, y * sy, x * sx, c)
        if self._is_dense:
            shape, strides = (*shape[:-2], across * filters), (*strides[:-2], c)
        windows = np.lib.stride_tricks.as_strided(part, shape, strides)
        target = output[step].reshape(images, rows, -1)
        values = target if output.flags.c_contiguous else memory[:images, :rows]
        result = values if self._is_dense else values.reshape(images, rows, across, filters)
        added = None if residual is None else residual[step].reshape(images, rows, -1)
        return _Bound(windows, result, Piece(values, added, target))
