"""Names that NumPy dropped, as `compat.install()` gives them back; the answers are those of NumPy 1.23.5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from autohybrid import compat
from autohybrid.compat.legacy_numpy import NAMES

np: Any = numpy


@pytest.fixture
def old_names() -> Iterator[None]:
    compat.install()
    yield
    compat.uninstall()


def test_names_come_with_install_and_go_with_uninstall() -> None:
    before = dict(vars(numpy))
    compat.install(numpy_names=False)
    assert dict(vars(numpy)) == before
    compat.install()
    assert set(NAMES) <= set(vars(numpy))
    assert all(vars(numpy)[name] is value for name, value in before.items() if name != "fromstring")
    compat.install()
    compat.uninstall()
    assert dict(vars(numpy)) == before


def test_what_was_there_before_install_stays() -> None:
    numpy.infty = 7  # type: ignore[attr-defined]
    try:
        compat.install()
        compat.uninstall()
        assert np.infty == 7
    finally:
        del numpy.infty  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arrays", "scalars", "found"),
    [
        (["f4"], ["i8", "f8"], "float32"),
        (["f4"], ["D"], "complex128"),
        (["f4", "f4", "i4"], ["F"], "complex128"),
        (["i8"], ["f4"], "float64"),
        (["u1"], ["i1"], "int16"),
        (["i2"], ["u8"], "int16"),
        (["?"], ["e"], "float16"),
        (["i4", "u4"], [], "int64"),
        ([], ["e", "b"], "float16"),
    ],
)
def test_common_types(old_names: None, arrays: list[str], scalars: list[str], found: str) -> None:
    assert np.find_common_type(arrays, scalars) == numpy.dtype(found)
    assert np.find_common_type([], []) is None


def test_functions_on_arrays(old_names: None) -> None:
    x = numpy.array([[3, 1, 2], [0, 5, 0]])
    assert np.product(x, 1, keepdims=True).tolist() == [[6], [0]]
    assert np.cumproduct(x, axis=1).tolist() == [[3, 3, 6], [0, 0, 0]]
    assert (np.alltrue(x, axis=1).tolist(), bool(np.sometrue(x))) == ([True, False], True)
    assert np.msort(x).tolist() == [[0, 1, 0], [3, 5, 2]]
    assert np.in1d(x, [0, 2], invert=True).tolist() == [True, True, False, False, True, False]
    assert [np.asfarray(x, kind).dtype for kind in ("int32", "float32", "D")] == ["float64", "float32", "complex128"]
    assert np.trapz([1, 2, 3], x=[4, 6, 8]) == 8
    assert np.row_stack([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert type(np.mat("1 2; 3 4")) is numpy.matrix
    assert np.asscalar(numpy.array([2.5])) == 2.5
    assert np.fromstring(b"\x01\x02\x03", numpy.uint8, count=2).tolist() == [1, 2]


def test_questions_about_types(old_names: None) -> None:
    assert [np.obj2sctype(x) for x in ("f4", int, x_array(), list, "rubbish")] == [
        *(numpy.float32, numpy.int64, numpy.int8, numpy.object_, None)
    ]
    assert [np.issubsctype(x, numpy.floating) for x in (numpy.float32, int, "f8", numpy.integer)] == [
        *(True, False, True, False)
    ]
    assert [np.issctype(x) for x in (numpy.int8, float, object, "f4", numpy.dtype("i4"))] == [
        *(True, True, False, False, True)
    ]
    assert (np.issubclass_(bool, int), np.issubclass_(int, 5), np.sctype2char(float)) == (True, False, "d")
    assert np.cast["int8"]([1.7, 0]).dtype == np.cast[numpy.int8](2.5).dtype == numpy.int8
    assert np.cast[int](1.7) == 1
    with pytest.raises(ValueError, match="'rubbish' is no scalar type"):
        np.sctype2char("rubbish")


def x_array() -> Any:
    return numpy.array([1], dtype="int8")
