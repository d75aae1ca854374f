"""What a strategy needs to know of one convolution, and how its results are finished while they are in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from autohybrid.tensor.windows import Window

#: Bytes of the arrays that one step of a strategy goes over: they should stay in the second cache of a core.
STEP_BYTES = 1 << 20


class Border(NamedTuple):
    """Elements around an image: before and behind its rows, before and behind its columns."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    def around(self, other: Border) -> Border:
        """The least border that has room for both."""
        return Border(*map(max, self, other))

    def covers(self, other: Border) -> bool:
        """Whether there is room for `other`."""
        return all(a >= b for a, b in zip(self, other))

    def shape(self, inner: Sequence[int]) -> tuple[int, ...]:
        """The shape of an array (n, height, width, channels) with this border."""
        n, height, width, channels = inner
        return (n, self.top + height + self.bottom, self.left + width + self.right, channels)

    def inner(self, array: Any, border: Border | None = None) -> Any:
        """The view of an array with this border that has only `border` left around it."""
        kept = Border() if border is None else border
        rows = slice(self.top - kept.top, array.shape[1] - self.bottom + kept.bottom)
        columns = slice(self.left - kept.left, array.shape[2] - self.right + kept.right)
        return array[:, rows, columns]


@dataclass(frozen=True, slots=True)
class Layer:
    """One convolution over two axes: `data` is its shape (n, height, width, channels) without padding."""

    data: tuple[int, int, int, int]
    filters: int
    window: Window
    groups: int = 1

    @property
    def positions(self) -> tuple[int, int]:
        """The extents of the output."""
        down, across = self.window.output_extents(self.data[1:3])
        return down, across

    @property
    def output(self) -> tuple[int, int, int, int]:
        """The shape of the output."""
        return (self.data[0], *self.positions, self.filters)

    @property
    def border(self) -> Border:
        """The padding as far as the windows reach; rows and columns behind that are not read."""
        sides = []
        for n, m, pad, span, stride in zip(
            self.data[1:3], self.positions, self.window.pad, self.window.span, self.window.stride
        ):
            sides += [pad, max(0, (m - 1) * stride + span - n - pad)]
        return Border(*sides)


@dataclass(frozen=True, slots=True)
class Finish:
    """What happens to a result: a bias and another array are added, then it is cut off below and above."""

    has_bias: bool = False
    has_residual: bool = False
    low: float | None = None
    high: float | None = None
    drops_nan: bool = False  # `Activation` gives 0 for NaN

    @property
    def is_clipped(self) -> bool:
        """Whether there is a lower or upper limit."""
        return self.low is not None or self.high is not None

    def apply(self, piece: Piece, bias: Any) -> None:
        """Finish `piece.values` into `piece.target`; `bias` (for a whole row of it) is None where it is in already."""
        values, residual, target = piece
        last = (residual is not None) + self.is_clipped  # passes that follow the bias
        if bias is not None:
            values = np.add(values, bias, out=values if last else target)
        elif not last:
            if values is not target:
                np.copyto(target, values)
            return
        if residual is not None:
            values = np.add(values, residual, out=values if self.is_clipped else target)
        if not self.is_clipped:
            return
        if self.high is None:
            (np.fmax if self.drops_nan else np.maximum)(values, self._row(values, self.low), out=target)
        else:
            values.clip(self.low, self.high, out=target)

    def _row(self, values: Any, limit: float | None) -> Any:
        """`limit` along the last axis: `maximum` has fast loops for rows, but not for a number."""
        return _filled(values.shape[-1], limit, values.dtype.name)


class Piece(NamedTuple):
    """A part of a result: where it is, what is to be added to it, and where it goes; of one shape."""

    values: Any
    residual: Any
    target: Any


@lru_cache(1024)
def _filled(length: int, limit: float | None, dtype: str) -> Any:
    row = np.full(length, limit, dtype=dtype)
    row.flags.writeable = False
    return row


class Strategy(Protocol):
    """A way to compute a convolution. `bind` makes views of memory once, `run` is called with them and parameters."""

    @property
    def layer(self) -> Layer:
        """The convolution."""
        ...

    @property
    def finish(self) -> Finish:
        """How its results are finished."""
        ...

    @property
    def border(self) -> Border:
        """The border of zeros that the data must have."""
        ...

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """The shape of the weight as `run` takes it."""
        ...

    @property
    def bias_repeats(self) -> int:
        """How many copies of the bias, one behind the other, `run` takes."""
        ...

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight (filters, channels / groups, *kernel), each filter times its `scale`, as `run` takes it."""
        ...

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of memory for the work; what it holds at first does not matter."""
        ...

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> Any:
        """What `run` needs of these arrays: `data` with its border, `output` and `residual` (or None) without."""
        ...

    def run(self, bound: Any, weight: Any, bias: Any) -> None:
        """Compute the output. `bias` is None where there is none."""
        ...
