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
#: Numbers that are multiplied at a time: enough to be fast, few enough for the weight to stay in the first cache.
_RUN = 1024


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
        """(*kernel, positions * channels) for the positions that are taken together."""
        return (*self.layer.window.kernel, self._together * self.layer.filters)

    @property
    def bias_repeats(self) -> int:
        """A bias for each position of a row."""
        return self.layer.positions[1]

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight (*kernel, channels), repeated for the positions that are taken together."""
        taps = filters_last(weight, scale)[0, :, :, 0]
        return np.ascontiguousarray(np.tile(taps, (1, 1, self._together)))

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
        for windows, result, piece in bound:
            np.einsum("ijnqxc,ijc->nqxc", windows, weight, out=result)
            finish(piece, bias)

    @property
    def _together(self) -> int:
        """How many positions of a row are taken as one run of numbers, where neighbours meet neighbouring data."""
        across, filters = self.layer.output[2:]
        if self.layer.window.stride[1] != 1:
            return 1
        return next((n for n in range(across, 1, -1) if across % n == 0 and n * filters <= _RUN), 1)

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
        together = self._together
        shape = (*window.kernel, images, rows, across // together, together * filters)
        strides = (y * dy, x * dx, n, y * sy, x * sx * together, c)
        windows = np.lib.stride_tricks.as_strided(part, shape, strides)
        target = output[step].reshape(images, rows, -1)
        values = target if output.flags.c_contiguous else memory[:images, :rows]
        result = values.reshape(shape[2:])
        added = None if residual is None else residual[step].reshape(images, rows, -1)
        return _Bound(windows, result, Piece(values, added, target))
