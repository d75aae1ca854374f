"""Maxima and sums over windows of arrays (n, height, width, channels), rows first and then columns.

No padding is made: a window that reaches beyond the data meets fewer elements. Some rows go at a time, so that what the
first half leaves is in the cache for the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autohybrid.tensor.channels_last.layer import Finish, Piece
from autohybrid.tensor.channels_last.steps import Step, make_steps
from autohybrid.tensor.pooling import Pool, window_sizes

#: Bytes of what the first half leaves for the second.
_STEP_BYTES = 1 << 18
_UNFINISHED = Finish()

#: The views of one tap: the part of the result that it reaches, and the data that it meets there.
_Tap = tuple[Any, Any]


class _Half(NamedTuple):
    """Windows along one axis: the data that up to two taps meet which reach every position, and the other taps."""

    result: Any
    first: Any
    second: Any
    others: tuple[_Tap, ...]


class _Bound(NamedTuple):
    """The two halves of a step, and what is to be finished then (None: nothing)."""

    piece: Piece | None
    down: _Half
    across: _Half


@dataclass(frozen=True)
class SlidingPool:
    """Pooling of kind `max`, `sum` or `avg` over two axes of data with these extents (n, height, width, channels).

    A bias and limits of the data (`finish`) may be left to be applied to the maxima: those are fewer, and the same.
    """

    data: tuple[int, int, int, int]
    pool: Pool
    kind: str
    include_pad: bool = True
    finish: Finish = _UNFINISHED

    @property
    def output(self) -> tuple[int, int, int, int]:
        """The shape of the result."""
        down, across = self.pool.positions
        return (self.data[0], down, across, self.data[3])

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory for what the first half leaves."""
        images, rows = self._steps[0].extents
        return ((images, rows, *self.data[2:]),)

    @property
    def bias_repeats(self) -> int:
        """A bias for each position of a row."""
        return self.pool.positions[1]

    def bind(self, data: Any, output: Any, scratch: Sequence[Any]) -> tuple[_Bound, ...]:
        """The views of every step."""
        return tuple([self._bind_step(step, data, output, scratch[0]) for step in self._steps])

    def run(self, bound: tuple[_Bound, ...], output: Any, bias: Any = None) -> None:
        """Compute the output."""
        combine = np.add if self.kind != "max" else np.fmax if self.finish.drops_nan else np.maximum
        neutral = float(np.finfo(output.dtype).min) if self.kind == "max" else 0.0
        for piece, *halves in bound:
            for result, first, second, others in halves:
                if first is None:
                    result.fill(neutral)
                elif second is None:
                    np.copyto(result, first)
                else:
                    combine(first, second, out=result)
                for part, met in others:
                    combine(part, met, out=part)
            if piece is not None:
                self.finish.apply(piece, bias)
        if self.kind == "avg":
            np.true_divide(output, self._divisor, out=output)

    @cached_property
    def _divisor(self) -> Any:
        sizes = window_sizes(np, self.pool, self.include_pad, np.dtype("float32"))
        return np.asarray(sizes, "float32")

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        n, down, _, channels = self.output
        return make_steps(n, down, max(1, _STEP_BYTES // (4 * self.data[2] * channels)))

    def _bind_step(self, step: Step, data: Any, output: Any, memory: Any) -> _Bound:
        images, rows = step.extents
        between, result = memory[:images, :rows], output[step]
        piece = None
        if self.finish.has_bias or self.finish.is_clipped:
            flat = result.reshape(images, rows, -1)
            piece = Piece(flat, None, flat)
        first = self._half(0, data[step.images], between, step.rows.start)
        return _Bound(piece, first, self._half(1, between, result, 0))

    def _half(self, axis: int, data: Any, result: Any, start: int) -> _Half:
        """The taps of the windows along spatial `axis`; the results begin at position `start`."""
        pool = self.pool
        extent, stride, pad = pool.extents[axis], pool.stride[axis], pool.pad[axis]
        count = result.shape[1 + axis]
        taps: list[tuple[int, int, int]] = []  # the first and last position that it reaches, and the data it meets
        for tap in range(pool.kernel[axis]):
            low = max(start, -((tap - pad) // stride))  # the least position whose element is not before the data
            high = min(start + count, (extent - 1 + pad - tap) // stride + 1)
            if low < high:
                taps.append((low - start, high - start, low * stride + tap - pad))
        views = [(_along(result, axis, a, b, 1), _along(data, axis, c, b - a, stride, True)) for a, b, c in taps]
        whole = [i for i, (a, b, _) in enumerate(taps) if (a, b) == (0, count)]
        chosen = whole[:2]
        others = tuple(view for i, view in enumerate(views) if i not in chosen)
        first, second, *_ = (*[views[i][1] for i in chosen], None, None)
        return _Half(result, first, second, others)


def _along(array: Any, axis: int, start: int, stop: int, step: int, is_count: bool = False) -> Any:
    """A slice of spatial `axis`; `stop` may be how many elements there are."""
    end = start + (stop - 1) * step + 1 if is_count else stop
    part = slice(start, end, step)
    return array[:, part] if axis == 0 else array[:, :, part]
