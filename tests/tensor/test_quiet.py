"""The settings of NumPy inside kernels."""

from __future__ import annotations

import warnings

import numpy as np

from autohybrid.tensor.quiet import hush, unhush


def test_settings_hold_between_hush_and_unhush_only() -> None:
    """No warnings and small buffers inside, what there was before outside; nested calls too."""
    before = np.geterr(), np.getbufsize()
    outer = hush()
    inner = hush()
    assert set(np.geterr().values()) == {"ignore"} and np.getbufsize() < before[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(np.float32(3e38) * np.full(2, 10, "float32")).all()
    unhush(inner)
    assert set(np.geterr().values()) == {"ignore"}
    unhush(outer)
    assert (np.geterr(), np.getbufsize()) == before


def test_sums_are_those_of_numpy_bit_for_bit() -> None:
    """Small buffers do not change the order of a sum in the dtype of its data."""
    state = np.random.RandomState(0)
    for shape, axis in (((7, 1000), 1), ((1000, 7), 0), ((3, 40, 33), (0, 2)), ((100003,), 0), ((4, 50, 60), 1)):
        data = state.standard_normal(shape).astype("float32")
        expected = data.sum(axis=axis), data.mean(axis=axis), np.swapaxes(data, 0, -1).sum(axis=0)
        token = hush()
        got = data.sum(axis=axis), data.mean(axis=axis), np.swapaxes(data, 0, -1).sum(axis=0)
        unhush(token)
        for result, other in zip(got, expected):
            np.testing.assert_array_equal(result, other)
