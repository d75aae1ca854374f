"""Every strategy against the plain convolution in double precision: shapes, borders, finishes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from autohybrid.tensor.channels_last.choose import choose_strategy, without_finish
from autohybrid.tensor.channels_last.columns import Columns
from autohybrid.tensor.channels_last.depthwise import Depthwise
from autohybrid.tensor.channels_last.layer import Border, Finish, Layer, Strategy
from autohybrid.tensor.channels_last.shared import Shared
from autohybrid.tensor.channels_last.strips import Strips
from autohybrid.tensor.channels_last.winograd import Winograd
from autohybrid.tensor.convolution import convolve
from autohybrid.tensor.windows import Window

Make = Callable[[Layer, Finish], Strategy]

FINISHES = [
    Finish(),
    Finish(has_bias=True, low=0.0),
    Finish(has_bias=True, has_residual=True, low=0.0, high=6.0),
    Finish(has_residual=True),
    Finish(low=0.0),
    Finish(has_bias=True),
    Finish(high=1.0),
]


def layer(data: tuple[int, int, int, int], filters: int, kernel: int, groups: int = 1, **window: int) -> Layer:
    """A layer with the same numbers on both axes."""
    stride, dilate, pad = [(window.get(name, d),) * 2 for name, d in (("stride", 1), ("dilate", 1), ("pad", 0))]
    return Layer(data, filters, Window((kernel, kernel), stride, dilate, pad), groups)


winograd4 = partial(Winograd, size=4)

CASES: list[tuple[Layer, Make]] = [
    (layer((2, 9, 7, 5), 6, 3, stride=2, pad=1), Columns),
    (layer((1, 12, 13, 8), 6, 3, 2, dilate=2, pad=1), Columns),
    (layer((1, 40, 31, 3), 16, 7, stride=2, pad=3), Columns),
    (layer((3, 5, 6, 40), 300, 1), Columns),
    (layer((1, 30, 31, 12), 64, 1), Columns),
    (layer((1, 5, 5, 600), 64, 1), Columns),
    (layer((1, 7, 7, 600), 640, 3, pad=1), Columns),
    (layer((2, 8, 8, 6), 4, 1, stride=2), Columns),
    (layer((1, 8, 9, 600), 96, 1, 3), Columns),
    (layer((2, 10, 11, 32), 40, 3, pad=1), lambda a, b: Winograd(a, b, 2)),
    (layer((2, 10, 9, 32), 40, 3, pad=1), lambda a, b: Winograd(a, b, 4)),
    (layer((1, 9, 8, 33), 32, 3), lambda a, b: Winograd(a, b, 4)),
    (layer((3, 3, 4, 32), 200, 3, pad=2), lambda a, b: Winograd(a, b, 2)),
    (layer((1, 56, 56, 64), 64, 3, pad=1), lambda a, b: Winograd(a, b, 4)),
    (layer((2, 10, 11, 12), 12, 3, 12, pad=1), Depthwise),
    (layer((2, 10, 11, 12), 12, 3, 12, stride=2, pad=1), Depthwise),
    (layer((1, 30, 33, 48), 48, 5, 48, dilate=2, pad=4), Depthwise),
    (layer((1, 31, 40, 96), 96, 5, 96, stride=2, pad=2), Depthwise),
    (layer((2, 9, 8, 7), 7, 2, 7, stride=2), Depthwise),
    (layer((2, 9, 8, 7), 7, 3, 7, stride=3, pad=1), Depthwise),
    (layer((1, 9, 8, 7), 7, 1, 7, stride=2), Depthwise),
    (layer((1, 19, 18, 7), 7, 3, 7, stride=2, dilate=3, pad=3), Depthwise),
    (layer((1, 19, 18, 7), 6, 3, stride=2, pad=1), lambda a, b: Shared(a, b, Columns, (0, 3, 7, 10), False)),
    (layer((1, 30, 31, 12), 64, 1), lambda a, b: Shared(a, b, Columns, (0, 15, 30), False)),
    (layer((2, 12, 9, 12), 96, 3, pad=1), lambda a, b: Shared(a, b, Columns, (0, 32, 64, 96), True)),
    (layer((1, 30, 31, 12), 64, 1), lambda a, b: Shared(a, b, Columns, (0, 32, 64), True)),
    (layer((2, 10, 9, 32), 40, 3, pad=1), lambda a, b: Shared(a, b, winograd4, (0, 4, 10), False)),
    (layer((1, 10, 9, 32), 64, 3, pad=1), lambda a, b: Shared(a, b, winograd4, (0, 32, 64), True)),
    (layer((2, 41, 40, 3), 16, 7, stride=2, pad=3), Strips),
    (layer((1, 64, 50, 3), 16, 7, stride=2, pad=3), Strips),
    (layer((1, 19, 18, 7), 6, 3, pad=1), Strips),
    (layer((1, 64, 200, 16), 48, 5, stride=3), Strips),
    (layer((1, 40, 50, 3), 16, 7, stride=2, pad=3), lambda a, b: Shared(a, b, Strips, (0, 8, 20), False)),
    (layer((1, 31, 40, 24), 24, 5, 24, stride=2, pad=2), lambda a, b: Shared(a, b, Depthwise, (0, 7, 16), False)),
]


@pytest.mark.parametrize("place", [Border(), Border(1, 2, 3, 0)])
@pytest.mark.parametrize("finish", FINISHES, ids=str)
@pytest.mark.parametrize(("shape", "make"), CASES, ids=lambda v: repr(v) if isinstance(v, Layer) else "")
def test_a_strategy_gives_what_the_plain_convolution_gives(
    shape: Layer, make: Make, finish: Finish, place: Border
) -> None:
    """Within 2e-5 of the largest result; the border of the output and the data stay as they are."""
    state = np.random.RandomState(3)

    def drawn(*extents: int) -> Any:
        return state.standard_normal(extents).astype("float32")

    strategy = make(shape, finish)
    room = strategy.border.around(Border(0, 1, 1, 0))
    full, goal = np.zeros(room.shape(shape.data), "float32"), np.zeros(place.shape(shape.output), "float32")
    room.inner(full)[...] = drawn(*shape.data)
    before = full.copy()
    weight, bias = drawn(shape.filters, shape.data[3] // shape.groups, *shape.window.kernel), drawn(shape.filters)
    residual = drawn(*shape.output) if finish.has_residual else None
    packed = strategy.pack(weight)
    assert packed.shape == strategy.packed_shape and packed.flags.c_contiguous
    scratch = [np.full(extents, np.nan, "float32") for extents in strategy.scratch()]
    bound = strategy.bind(room.inner(full, strategy.border), place.inner(goal), residual, scratch)
    for _ in range(2):
        strategy.run(bound, packed, np.tile(bias, strategy.bias_repeats) if finish.has_bias else None)
    data = room.inner(full).transpose(0, 3, 1, 2).astype("float64")
    expected = convolve(np, data, weight.astype("float64"), shape.window, shape.groups).transpose(0, 2, 3, 1)
    tolerance = 2e-5 * np.abs(expected).max()
    expected = expected + (bias if finish.has_bias else 0) + (0 if residual is None else residual)
    if finish.is_clipped:
        expected = expected.clip(finish.low, finish.high)
    result = place.inner(goal)
    np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)
    result[...] = 0
    assert not goal.any(), "the border of the output was written"
    np.testing.assert_array_equal(full, before)


def test_the_rule_takes_winograd_where_channels_are_many_and_columns_elsewhere() -> None:
    """The rule depends on shapes alone; depthwise layers with several filters a channel have no strategy."""
    chosen = [
        choose_strategy(layer((1, 56, 56, 64), 64, 3, pad=1), Finish()),
        choose_strategy(layer((1, 56, 56, 8), 64, 3, pad=1), Finish()),
        choose_strategy(layer((1, 56, 56, 64), 64, 3, pad=1, stride=2), Finish()),
        choose_strategy(layer((1, 56, 56, 64), 64, 1), Finish()),
        choose_strategy(layer((1, 56, 56, 64), 64, 3, 64, pad=1), Finish()),
        choose_strategy(layer((1, 56, 56, 64), 128, 3, 64, pad=1), Finish()),
    ]
    assert [type(s) for s in chosen] == [Winograd, Columns, Columns, Columns, Depthwise, type(None)]


def test_convolutions_of_few_channels_go_by_strips_where_they_are_not_finished() -> None:
    first, small = layer((1, 224, 224, 3), 64, 7, pad=3, stride=2), layer((1, 224, 224, 3), 32, 3, pad=1, stride=2)
    finish = Finish(has_bias=True, low=0.0)
    assert [type(choose_strategy(shape, finish)) for shape in (first, small)] == [Columns, Columns]
    plain = [without_finish(s) for s in map(choose_strategy, (first, small), (finish, finish)) if s is not None]
    assert [type(s) for s in plain] == [Strips, Columns] and not any(s.finish.has_bias for s in plain)
    shared = choose_strategy(first, finish, 2)
    assert isinstance(shared, Shared)
    assert [type(part.strategy) for part in without_finish(shared).parts] == [Strips, Strips]  # type: ignore[attr-defined]


def test_winograd_is_exact_in_double_precision() -> None:
    """The transforms are the right ones: in float64 only rounding is left."""
    state = np.random.RandomState(0)
    for size, (height, width) in itertools.product((2, 4), ((8, 8), (7, 9))):
        shape = layer((1, height, width, 32), 32, 3, pad=1)
        strategy = Winograd(shape, Finish(), size)
        full, goal = np.zeros(strategy.border.shape(shape.data)), np.zeros(shape.output)
        strategy.border.inner(full)[...] = state.standard_normal(shape.data)
        weight = state.standard_normal((32, 32, 3, 3))
        bound = strategy.bind(full, goal, None, [np.empty(extents) for extents in strategy.scratch()])
        strategy.run(bound, strategy.pack(weight), None)
        data = strategy.border.inner(full).transpose(0, 3, 1, 2)
        expected = convolve(np, data, weight, shape.window, 1).transpose(0, 2, 3, 1)
        np.testing.assert_allclose(goal, expected, rtol=0, atol=1e-12 * np.abs(expected).max() * 10)
