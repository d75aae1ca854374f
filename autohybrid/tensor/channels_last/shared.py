"""A convolution that several threads compute together: each some rows of the output, or some of its filters.

A part is a smaller convolution by the same strategy. Parts by rows read the weight in every thread, parts by filters
the data; `choose.py` says which. Whether the threads are there or one does all the parts, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from autohybrid.team import team
from autohybrid.tensor.channels_last.layer import Border, Finish, Layer, Strategy
from autohybrid.tensor.channels_last.steps import even_cuts
from autohybrid.tensor.quiet import hush, unhush

#: Makes the strategy of a part.
Make = Callable[[Layer, Finish], Strategy]


class _Part(NamedTuple):
    """What one thread computes: the rows of the padded data that it reads, and its rows and filters of the output."""

    strategy: Strategy
    data_rows: slice
    rows: slice
    filters: slice


@dataclass(frozen=True)
class Shared:
    """The strategy of several threads. `cuts` are where parts begin and end, among the rows or the filters."""

    layer: Layer
    finish: Finish
    make: Make
    cuts: tuple[int, ...]
    by_filters: bool

    @property
    def border(self) -> Border:
        """What all parts need."""
        layer, parts = self.layer, self.parts
        height, width = (
            max(part.data_rows.stop for part in parts),
            max(part.strategy.border.shape(part.strategy.layer.data)[2] for part in parts),
        )
        top, _, left, _ = layer.border
        return Border(top, max(0, height - top - layer.data[1]), left, max(0, width - left - layer.data[2]))

    @property
    def packed_shape(self) -> tuple[int, ...]:
        """That of a part; with a new axis in front where each has filters of its own."""
        shape = self.parts[0].strategy.packed_shape
        return (len(self.parts), *shape) if self.by_filters else shape

    @property
    def bias_repeats(self) -> int:
        """As the parts take it; one where they have filters of their own, which leaves them no long rows."""
        return 1 if self.by_filters else self.parts[0].strategy.bias_repeats

    @property
    def is_even(self) -> bool:
        """Whether all parts take their weight in the same form, as they must."""
        return len({part.strategy.packed_shape for part in self.parts}) == 1

    def pack(self, weight: Any, scale: Any = None) -> Any:
        """The weight of each part, or the one of all."""
        if not self.by_filters:
            return self.parts[0].strategy.pack(weight, scale)
        cut = [(p.strategy, p.filters) for p in self.parts]
        return np.stack([s.pack(weight[f], None if scale is None else scale[f]) for s, f in cut])

    def scratch(self) -> tuple[tuple[int, ...], ...]:
        """Memory of each part behind that of the one before."""
        return tuple([shape for part in self.parts for shape in part.strategy.scratch()])

    def bind(self, data: Any, output: Any, residual: Any, scratch: Sequence[Any]) -> tuple[Any, ...]:
        """What each part needs."""
        bound, start = [], 0
        for strategy, data_rows, rows, filters in self.parts:
            width = strategy.border.shape(strategy.layer.data)[2]
            end = start + len(strategy.scratch())
            added = None if residual is None else residual[:, rows, :, filters]
            given = data[:, data_rows, :width], output[:, rows, :, filters], added, scratch[start:end]
            bound.append(strategy.bind(*given))
            start = end
        return tuple(bound)

    def run(self, bound: tuple[Any, ...], weight: Any, bias: Any) -> None:
        """Compute the output."""
        jobs = [partial(self._run_part, index, views, weight, bias) for index, views in enumerate(bound)]
        team.run(jobs)

    def _run_part(self, index: int, views: Any, weight: Any, bias: Any) -> None:
        strategy, _, _, filters = self.parts[index]
        if self.by_filters:
            weight, bias = weight[index], None if bias is None else bias[filters]
        token = hush()
        try:
            strategy.run(views, weight, bias)
        finally:
            unhush(token)

    @cached_property
    def parts(self) -> tuple[_Part, ...]:
        """The parts, each with its strategy."""
        cut = self._filters_part if self.by_filters else self._rows_part
        return tuple([cut(start, stop) for start, stop in pairwise(self.cuts)])

    def _filters_part(self, start: int, stop: int) -> _Part:
        strategy = self.make(replace(self.layer, filters=stop - start), self.finish)
        height = strategy.border.shape(self.layer.data)[1]
        return _Part(strategy, slice(0, height), slice(None), slice(start, stop))

    def _rows_part(self, start: int, stop: int) -> _Part:
        window, (n, _, width, channels) = self.layer.window, self.layer.data
        height = (stop - start - 1) * window.stride[0] + window.span[0] - 2 * window.pad[0]
        strategy = self.make(replace(self.layer, data=(n, height, width, channels)), self.finish)
        first = start * window.stride[0]
        rows = slice(first, first + strategy.border.shape(strategy.layer.data)[1])
        return _Part(strategy, rows, slice(start, stop), slice(None))


def cut_rows(layer: Layer, make: Make, finish: Finish, threads: int, unit: int) -> Shared | None:
    """The convolution with an even part of the rows, in units, for each thread; None where they do not suffice."""
    window = layer.window
    least = max(1, -((window.span[0] - 2 * window.pad[0] - 1) // window.stride[0]) + 1)  # a part has data of its own
    cuts = even_cuts(layer.positions[0], threads, unit)
    if cuts is None or min(b - a for a, b in pairwise(cuts)) < least:
        return None
    shared = Shared(layer, finish, make, cuts, by_filters=False)
    return shared if shared.is_even else None


def cut_filters(layer: Layer, make: Make, finish: Finish, threads: int) -> Shared | None:
    """The convolution with an even part of the filters for each thread; None where they do not suffice."""
    if layer.groups != 1 or layer.filters % (32 * threads):
        return None
    cuts = tuple(range(0, layer.filters + 1, layer.filters // threads))
    return Shared(layer, finish, make, cuts, by_filters=True)
