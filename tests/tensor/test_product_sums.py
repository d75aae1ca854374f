"""Sums of products: any number of pairs, one buffer for all later products, factors made in the same memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autohybrid.tensor.product_sums import sum_of_products


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_products_are_added_up(count: int) -> None:
    state = np.random.RandomState(0)
    pairs = [(state.standard_normal((3, 4)), state.standard_normal((4, 5))) for _ in range(count)]
    left, right = np.empty((3, 4)), np.empty((4, 5))  # each pair is written over the one before
    made: list[Any] = []

    def factors() -> Any:
        for a, b in pairs:
            left[...], right[...] = a, b
            yield left, right

    def empty(shape: Any, dtype: Any) -> Any:
        made.append(shape)
        return np.full(shape, np.nan, dtype)

    total = np.full((3, 5), np.nan)
    sum_of_products(np, factors(), total, empty)
    np.testing.assert_allclose(total, sum((a @ b for a, b in pairs), np.zeros((3, 5))), rtol=1e-12, atol=1e-12)
    assert made == [(3, 5)] * (count > 1)
