"""Which strategy computes a convolution: a rule over shapes, from what the strategies cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from autohybrid.tensor.channels_last.columns import Columns
from autohybrid.tensor.channels_last.depthwise import Depthwise
from autohybrid.tensor.channels_last.layer import Finish, Layer, Strategy
from autohybrid.tensor.channels_last.shared import Make, Shared, cut_filters, cut_rows
from autohybrid.tensor.channels_last.strips import Strips
from autohybrid.tensor.channels_last.strips import is_fit as is_for_strips
from autohybrid.tensor.channels_last.winograd import Winograd

#: Below this many channels or filters the fixed transforms cost more than the products they save.
_LEAST_CHANNELS = 32
#: Rough costs in nanoseconds: of a product, of reading an element of a weight once, of transforming an element of the
#: data and of the result, of a result of a depthwise convolution.
_PRODUCT, _WEIGHT, _TRANSFORM, _DEPTHWISE = 0.0135, 0.5, 0.45, 2.0
#: Of handing a part to another thread and waiting for it, and what must be saved for it to be done.
_PART, _LEAST_GAIN = 60_000, 30_000

#: Winograd's tiles by their size: one object each, so that equal strategies are equal.
_WINOGRAD: dict[int, Make] = {size: partial(Winograd, size=size) for size in (2, 4)}


class _Way(NamedTuple):
    """A strategy that is possible, the rows that belong together in it, and its cost in nanoseconds."""

    make: Make
    unit: int
    cost: Callable[[Layer], float]


def choose_strategy(layer: Layer, finish: Finish, threads: int = 1) -> Strategy | None:
    """The strategy, in up to this many threads; None where no strategy is better than the plain kernel."""
    ways = _ways(layer)
    if not ways:
        return None
    best = min(ways, key=lambda way: way.cost(layer))
    alone = best.cost(layer)
    while threads > 1:
        found = _choose_shared(layer, finish, ways, threads)
        if found is not None and found[0] + _PART + _LEAST_GAIN < alone:
            return found[1]
        threads //= 2
    return best.make(layer, finish)


def without_finish(strategy: Strategy) -> Strategy:
    """The strategy for the same convolution whose results are left as they are; strips finish badly."""
    if isinstance(strategy, Shared):
        fits = strategy.make is Columns and not strategy.by_filters and is_for_strips(strategy.layer)
        return replace(strategy, finish=Finish(), make=Strips if fits else strategy.make)
    if isinstance(strategy, Columns) and is_for_strips(strategy.layer):
        return Strips(strategy.layer, Finish())
    return replace(strategy, finish=Finish())  # type: ignore[type-var]


def _ways(layer: Layer) -> list[_Way]:
    if layer.groups > 1 and layer.groups == layer.data[3]:
        return [_Way(Depthwise, 1, _depthwise_cost)] if layer.filters == layer.groups else []
    found = [_Way(Columns, 1, _columns_cost)]
    if _is_for_winograd(layer):
        found += [_Way(make, size, partial(_winograd_cost, size=size)) for size, make in _WINOGRAD.items()]
    return found


def _choose_shared(layer: Layer, finish: Finish, ways: Sequence[_Way], threads: int) -> tuple[float, Shared] | None:
    """The cost of the longest part, and the strategy for which that is least; None where nothing can be cut."""
    found: list[tuple[float, Shared]] = []
    for way in ways:
        for shared in (
            cut_rows(layer, way.make, finish, threads, way.unit),
            cut_filters(layer, way.make, finish, threads),
        ):
            if shared is not None:
                found.append((max(way.cost(part.strategy.layer) for part in shared.parts), shared))
    return min(found, key=lambda c: c[0], default=None)


def _is_for_winograd(layer: Layer) -> bool:
    window = layer.window
    fits = window.kernel == (3, 3) and window.stride == (1, 1) and window.dilate == (1, 1) and max(window.pad) <= 2
    return fits and layer.groups == 1 and min(layer.data[3], layer.filters) >= _LEAST_CHANNELS


def _depthwise_cost(layer: Layer) -> float:
    return _DEPTHWISE * math.prod(layer.output) * math.prod(layer.window.kernel) / 9


def _columns_cost(layer: Layer) -> float:
    n, down, across, filters = layer.output
    depth = layer.window.kernel[0] * layer.window.kernel[1] * layer.data[3]
    return _products(n * down * across, depth, filters) + 0.15 * n * down * across * depth


def _winograd_cost(layer: Layer, size: int) -> float:
    n, down, across, filters = layer.output
    tiles = n * -(-down // size) * -(-across // size)
    products = (size + 2) ** 2
    moved = products * tiles * layer.data[3] + products * tiles * filters
    return products * _products(tiles, layer.data[3], filters) + _TRANSFORM * moved


def _products(rows: int, depth: int, filters: int) -> float:
    return (_PRODUCT * rows + _WEIGHT) * depth * filters
