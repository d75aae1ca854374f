"""Pooling of channels-last arrays against the plain kernels."""

from __future__ import annotations

import numpy as np
import pytest

from autohybrid.tensor.channels_last.pool import SlidingPool
from autohybrid.tensor.pooling import Pool, window_max, window_sizes, window_sum

#: Data, kernel, stride, padding, and how many positions there are.
CASES = [
    ((2, 9, 11, 5), (3, 3), (2, 2), (1, 1), (5, 6)),
    ((2, 10, 11, 5), (3, 3), (2, 2), (1, 1), (6, 6)),  # no tap reaches data everywhere
    ((1, 8, 9, 4), (2, 2), (2, 2), (0, 0), (4, 4)),
    ((1, 8, 9, 4), (5, 4), (1, 1), (2, 1), (8, 8)),
    ((2, 13, 13, 7), (3, 2), (2, 3), (0, 0), (6, 4)),
    ((1, 6, 6, 3), (1, 1), (2, 2), (0, 0), (3, 3)),
    ((3, 40, 40, 64), (3, 3), (2, 2), (1, 1), (20, 20)),  # several steps
]


@pytest.mark.parametrize("kind", ["max", "sum", "avg"])
@pytest.mark.parametrize(("shape", "kernel", "stride", "pad", "positions"), CASES)
def test_pools_as_the_plain_kernel(
    shape: tuple[int, int, int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
    positions: tuple[int, int],
    kind: str,
) -> None:
    data = np.random.RandomState(1).standard_normal(shape).astype("float32")
    pool = Pool(1, shape[1:3], kernel, stride, pad, positions)
    for include_pad in (True, False):
        strategy = SlidingPool(shape, pool, kind, include_pad)
        output = np.full(strategy.output, np.nan, "float32")
        scratch = [np.full(extents, np.nan, "float32") for extents in strategy.scratch()]
        bound = strategy.bind(data, output, scratch)
        for _ in range(2):
            strategy.run(bound, output)
        expected = window_max(np, data, pool) if kind == "max" else window_sum(np, data, pool)
        if kind == "avg":
            expected = expected / window_sizes(np, pool, include_pad, np.dtype("float32"))
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)
