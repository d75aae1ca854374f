"""Convolution of batches with the channels last: against the formula, its adjoints, and finite differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autohybrid import autograd, nd
from autohybrid.tensor import convolution, convolution_adjoints, convolution_batches
from autohybrid.tensor.pieces import Pieces
from autohybrid.tensor.windows import Window, make_window, padded, window_view

#: (batch, channels, spatial, filters, kernel, stride, dilate, pad)
_CASES: tuple[tuple[Any, ...], ...] = (
    (3, 20, (12, 12), 5, (5, 5), (1, 1), (1, 1), (0, 0)),
    (70, 24, (4, 3), 7, (3, 2), (2, 1), (2, 1), (1, 1)),
    (5, 31, (9,), 3, (4,), (2,), (1,), (2,)),
    (2, 40, (3, 4, 3), 6, (2, 3, 2), (1, 2, 1), (1, 1, 1), (1, 0, 1)),
    (300, 16, (6, 5), 4, (3, 3), (1, 1), (1, 1), (1, 1)),
)


def _arrays(case: tuple[Any, ...]) -> tuple[Any, Any, Any, Window]:
    n, channels, spatial, filters, kernel, stride, dilate, pad = case
    window = make_window(len(kernel), kernel, stride, dilate, pad)
    draw = np.random.RandomState(0)
    positions = window.output_extents(spatial)
    x, w = draw.uniform(-1, 1, (n, channels, *spatial)), draw.uniform(-1, 1, (filters, channels, *kernel))
    return x, w, draw.uniform(-1, 1, (n, filters, *positions)), window


def _refuse(shape: Any, dtype: Any) -> Any:
    raise AssertionError(f"no room for {shape}")


def _formula(x: Any, w: Any, window: Window, positions: tuple[int, ...]) -> Any:
    view = window_view(np, padded(np, x, window.pad, window.pad), window, positions)
    rank = len(positions)
    return np.moveaxis(np.tensordot(w, view, (list(range(1, rank + 2)), list(range(1, rank + 2)))), 0, 1)


@pytest.mark.parametrize("case", _CASES)
def test_the_products_are_the_formula_and_its_adjoints(case: tuple[Any, ...]) -> None:
    x, w, h, window = _arrays(case)
    assert convolution_batches.is_fit(x.shape, w.shape, window, 1, h.shape[2:])
    wanted = _formula(x, w, window, h.shape[2:])
    found = np.empty_like(h)
    work = np.full(convolution_batches.scratch_elements(x.shape, w.shape, window, h.shape[2:]), np.nan)
    convolution_batches.convolve(np, x, w, window, found, Pieces(work, _refuse))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)
    to_weight = np.empty_like(w)
    work[:] = np.nan  # what it holds at first does not matter
    convolution_batches.to_weight(np, h, x, window, to_weight, Pieces(work, _refuse))
    # The form is linear in each argument, so its derivative in a direction is its value there.
    direction = np.cos(np.arange(w.size)).reshape(w.shape)
    np.testing.assert_allclose(
        (to_weight * direction).sum(), (h * _formula(x, direction, window, h.shape[2:])).sum(), rtol=1e-9
    )


_TO_DATA: tuple[tuple[Any, ...], ...] = (
    (3, 20, (12, 12), 5, (5, 5), (1, 1), (1, 1), (0, 0)),
    (9, 24, (6, 13), 7, (3, 2), (1, 2), (2, 1), (1, 1)),
    (5, 31, (9,), 3, (4,), (2,), (1,), (2,)),
    (4, 10, (5, 6, 7), 6, (2, 3, 2), (1, 1, 3), (1, 2, 1), (1, 1, 1)),
    (40, 16, (12, 15), 8, (3, 3), (1, 1), (1, 1), (1, 1)),
)


@pytest.mark.parametrize("case", _TO_DATA)
def test_the_adjoints_in_two_steps_are_those_of_the_formula(case: tuple[Any, ...]) -> None:
    x, w, h, window = _arrays(case)
    assert convolution_adjoints.is_fit(x.shape, w.shape, window, 1, h.shape[2:])
    found = np.empty_like(x)
    needed = convolution_adjoints.scratch_elements(x.shape, w.shape, window, h.shape[2:])
    convolution_adjoints.to_data(np, h, w, window, found, Pieces(np.full(needed, np.nan), _refuse))
    direction = np.sin(np.arange(x.size)).reshape(x.shape)
    wanted = (h * _formula(direction, w, window, h.shape[2:])).sum()
    np.testing.assert_allclose((found * direction).sum(), wanted, rtol=1e-9)
    found = np.empty_like(w)
    convolution_adjoints.to_weight(np, h, x, window, found, Pieces(np.full(needed, np.nan), _refuse))
    direction = np.cos(np.arange(w.size)).reshape(w.shape)
    wanted = (h * _formula(x, direction, window, h.shape[2:])).sum()
    np.testing.assert_allclose((found * direction).sum(), wanted, rtol=1e-9)


def test_other_shapes_go_another_way() -> None:
    window = make_window(2, (3, 3), (), (), ())
    assert convolution_batches.is_fit((8, 64, 8, 8), (16, 64, 3, 3), window, 1, (6, 6))
    assert not convolution_batches.is_fit((8, 64, 8, 8), (16, 32, 3, 3), window, 2, (6, 6))  # groups
    assert not convolution_batches.is_fit((8, 64, 8, 8), (512, 64, 3, 3), window, 1, (6, 6))  # few positions
    assert not convolution_batches.is_fit((8, 1, 28, 28), (16, 1, 3, 3), window, 1, (26, 26))  # short runs
    assert not convolution_batches.is_fit((0, 64, 8, 8), (16, 64, 3, 3), window, 1, (6, 6))


@pytest.mark.parametrize("case", _CASES[:3])
def test_the_operator_agrees_with_finite_differences(case: tuple[Any, ...]) -> None:
    x, w, h, window = _arrays(case)
    assert convolution_batches.is_fit(x.shape, w.shape, window, 1, h.shape[2:])
    attrs = {name: getattr(window, name) for name in ("kernel", "stride", "dilate", "pad")}

    def loss(x: Any, w: Any) -> Any:
        return (
            nd.Convolution(x, w, num_filter=w.shape[0], no_bias=True, **attrs) ** 2 * nd.array(h, dtype=h.dtype)
        ).sum()

    arrays = [nd.array(a, dtype="float64") for a in (x, w)]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        value = loss(*arrays)
    value.backward()
    draw = np.random.RandomState(1)
    for position, array in enumerate(arrays):
        direction = draw.uniform(-1, 1, array.shape)
        values = []
        for step in (1e-5, -1e-5):
            moved = list(arrays)
            moved[position] = nd.array(array.asnumpy() + step * direction, dtype="float64")
            values.append(loss(*moved).asscalar())
        assert array.grad is not None
        slope = float((array.grad.asnumpy() * direction).sum())
        np.testing.assert_allclose((values[0] - values[1]) / 2e-5, slope, rtol=1e-6)


def test_single_precision_agrees_with_the_way_of_single_images() -> None:
    x, w, h, window = _arrays((6, 20, (12, 12), 5, (5, 5), (1, 1), (1, 1), (0, 0)))
    x, w, h = (a.astype("float32") for a in (x, w, h))
    whole = convolution.to_weight(np, h, x, window, 1, w.shape)
    single = sum(convolution.to_weight(np, h[i : i + 1], x[i : i + 1], window, 1, w.shape) for i in range(len(x)))
    assert math.isclose(np.abs(whole - single).max(), 0, abs_tol=1e-4)
