"""Which strategy computes a convolution: a rule over shapes, from what the strategies cost."""

from __future__ import annotations

from autohybrid.tensor.channels_last.columns import Columns
from autohybrid.tensor.channels_last.depthwise import Depthwise
from autohybrid.tensor.channels_last.layer import Finish, Layer, Strategy
from autohybrid.tensor.channels_last.winograd import Winograd

#: Below this many channels or filters the fixed transforms cost more than the products they save.
_LEAST_CHANNELS = 32
#: Rough costs in nanoseconds: of a product, of reading an element of a weight once, of transforming an element of the
#: data and of the result.
_PRODUCT, _WEIGHT, _TRANSFORM = 0.0135, 0.5, 0.45


def choose_strategy(layer: Layer, finish: Finish) -> Strategy | None:
    """The strategy; None where no strategy is better than the plain kernel."""
    if layer.groups > 1 and layer.groups == layer.data[3]:
        return Depthwise(layer, finish) if layer.filters == layer.groups else None
    candidates: list[tuple[float, Strategy]] = [(_columns_cost(layer), Columns(layer, finish))]
    if _is_for_winograd(layer):
        candidates += [(_winograd_cost(layer, size), Winograd(layer, finish, size)) for size in (2, 4)]
    return min(candidates, key=lambda c: c[0])[1]


def _is_for_winograd(layer: Layer) -> bool:
    window = layer.window
    fits = window.kernel == (3, 3) and window.stride == (1, 1) and window.dilate == (1, 1) and max(window.pad) <= 2
    return fits and layer.groups == 1 and min(layer.data[3], layer.filters) >= _LEAST_CHANNELS


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
