"""mx.test_utils: what counts as equal, and what a failed comparison says."""

from __future__ import annotations

import os

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.training import testing as utils


def test_tolerance_follows_the_coarser_dtype() -> None:
    one = np.ones(1)
    assert not utils.almost_equal(one, one + 1e-4)
    assert utils.almost_equal(one.astype("float32"), one + 1e-3)
    assert utils.almost_equal(one.astype("float16"), one + 0.1)
    assert not utils.almost_equal(np.array([1]), np.array([2]))
    assert not utils.almost_equal(one, np.ones(2), use_broadcast=False)


def test_a_difference_is_named_with_its_place() -> None:
    a = mx.nd.array([[1, 2], [3, 4]])
    with pytest.raises(AssertionError, match=r"2 of 4 .* at \(1, 0\): `mine` is 3.0, `theirs` is 9"):
        utils.assert_almost_equal(a, [[1, 2], [9, 5]], names=("mine", "theirs"))
    with pytest.raises(AssertionError, match="nan"):
        utils.assert_almost_equal(np.array([np.nan]), np.array([np.nan]))
    utils.assert_almost_equal(np.array([np.nan]), np.array([np.nan]), equal_nan=True)
    utils.assert_almost_equal(a, a.copy())
    assert utils.same(a, a.asnumpy())


def test_exceptions_are_demanded() -> None:
    utils.assert_exception(int, ValueError, "x")
    with pytest.raises(AssertionError, match="ValueError was not raised"):
        utils.assert_exception(int, ValueError, "1")


def test_random_arrays_are_of_the_kind_asked_for() -> None:
    assert all(1 <= n <= 4 for n in utils.rand_shape_nd(50, 4))
    assert utils.rand_ndarray((3, 2), dtype="float64").dtype == np.float64
    assert utils.rand_ndarray((3, 2), "csr", density=0.5).stype == "csr"
    rows = utils.rand_ndarray((40, 2), "row_sparse", density=0.5)
    assert 0 < rows.indices.shape[0] < 40
    assert [a.shape for a in utils.random_arrays((2,), (3, 1))] == [(2,), (3, 1)]


def test_environment_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AH_KEPT", "1")
    with utils.environment({"AH_KEPT": None, "AH_NEW": 2}):
        assert (os.environ.get("AH_KEPT"), os.environ.get("AH_NEW")) == (None, "2")
    assert (os.environ.get("AH_KEPT"), os.environ.get("AH_NEW")) == ("1", None)


def test_it_is_mxnets_test_utils() -> None:
    assert mx.test_utils is utils
