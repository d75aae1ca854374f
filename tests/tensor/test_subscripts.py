"""Subscripts: what MXNet 1.9.1 answered, what NumPy answers, and that the three ways of computing them agree.

`tests/data/tensor/subscripts.json` holds rows `[shape, key, value or None, error, shape of the result, values]`,
recorded with MXNet for `x = arange(...)`: `x[key]`, or `x` after `x[key] = value`. Left out is what MXNet gets wrong:
negative numbers in index arrays that are written to (it writes outside the array), None beside index arrays (NumPy's
place of the new axis is documented, another is used), and writing an array into an empty selection (it raises).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.subscripts import parse, read, write

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "tensor" / "subscripts.json").read_text())


def numbered(shape: Any) -> nd.NDArray:
    return nd.array(np.arange(np.prod(shape)).reshape(shape))


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: f"{row[0]}[{row[1]}]={row[2]}")
def test_recorded_answer(row: list[Any]) -> None:
    shape, key, value, error, result_shape, values = row
    names = {"x": numbered(shape), "nd": nd, "np": np}
    try:
        if value is None:
            result = eval(f"x[{key}]", names)
        else:
            exec(f"x[{key}] = {value}", names)
            result = names["x"]
    except (IndexError, ValueError, mx.MXNetError) as raised:
        assert type(raised).__name__ == error
        return
    assert error is None
    assert list(result.shape) == result_shape
    assert result.asnumpy().ravel().tolist() == values


# -- against NumPy ---------------------------------------------------------------------------------------------------
SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


@st.composite
def subscripts(draw: Any, advanced: bool) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """A shape, and a key as a tuple in which index arrays are NumPy arrays of one length (or of one element)."""
    shape = draw(SHAPES)
    length = draw(st.integers(1, 3))
    key: list[Any] = []
    dots = False
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        if draw(st.booleans()) and draw(st.booleans()):
            key.append(None)
        kinds = ["int", "slice", "slice"] + (["array"] if advanced else []) + ([] if dots else ["dots"])
        match draw(st.sampled_from(kinds)):
            case "int":
                key.append(draw(st.integers(-extent, extent - 1)))
            case "slice":
                bound = st.none() | st.integers(-extent - 1, extent + 1)
                key.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2]))))
            case "array":
                indices = hnp.arrays(
                    np.int64, draw(st.sampled_from([1, length])), elements=st.integers(-extent, extent - 1)
                )
                key.append(draw(indices))
            case "dots":
                key.append(...)
                dots = True
                break
    return shape, tuple(key)


def for_array(key: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
    """The key with index arrays as NDArrays, or as nested lists."""
    return tuple(
        (nd.array(k, dtype="int32") if tensors else k.tolist()) if isinstance(k, np.ndarray) else k for k in key
    )


def answer(data: Any, key: tuple[Any, ...]) -> Any:
    expected = data[key] if key else data
    assume(expected.size)
    return expected.reshape(expected.shape or (1,))


@pytest.mark.parametrize("advanced", [False, True])
@pytest.mark.parametrize("tensors", [False, True])
def test_reading_gives_what_numpy_gives(advanced: bool, tensors: bool) -> None:
    @settings(max_examples=150, deadline=None)
    @given(subscripts(advanced))
    def check(case: Any) -> None:
        shape, key = case
        x = numbered(shape)
        expected = answer(x.asnumpy(), key)
        got = x[for_array(key, tensors)]
        assert got.shape == expected.shape
        assert np.array_equal(got.asnumpy(), expected)

    check()


@pytest.mark.parametrize("advanced", [False, True])
def test_recorded_reading_is_the_same_and_its_gradient_counts_how_often_an_element_was_read(advanced: bool) -> None:
    @settings(max_examples=120, deadline=None)
    @given(subscripts(advanced))
    def check(case: Any) -> None:
        shape, key = case
        x = numbered(shape)
        expected = answer(x.asnumpy(), key)
        x.attach_grad()
        with autograd.record():
            y = x[for_array(key, True)]
        y.backward()
        counts = np.zeros(shape, "float32")
        np.add.at(counts, key, 1)
        assert y.shape == expected.shape
        assert np.array_equal(y.asnumpy(), expected)
        assert np.array_equal(x.grad.asnumpy(), counts)

    check()


@pytest.mark.parametrize("advanced", [False, True])
def test_writing_gives_what_numpy_gives(advanced: bool) -> None:
    @settings(max_examples=150, deadline=None)
    @given(subscripts(advanced), st.sampled_from(["number", "whole", "broadcast", "list"]))
    def check(case: Any, kind: str) -> None:
        shape, key = case
        x = numbered(shape)
        expected = x.asnumpy()
        selected = answer(expected, key)
        value: Any = -5.0
        if kind != "number":
            value = -1.0 - np.arange(selected.size, dtype="float32").reshape(selected.shape)
            value = value[..., :1] if kind == "broadcast" else value
        expected[key] = value if np.shape(expected[key]) else np.ravel(value)[0]
        x[for_array(key, True)] = value.tolist() if kind == "list" else value
        # Which of several values ends up in an element that is selected twice is nobody's promise.
        assume(len(set(np.arange(np.prod(shape)).reshape(shape)[key].ravel())) == selected.size)
        assert np.array_equal(x.asnumpy(), expected)

    check()


# -- the operator plan on any F --------------------------------------------------------------------------------------
@pytest.mark.parametrize("known", [False, True])
def test_the_plan_with_operators_reads_and_writes_like_the_array(known: bool) -> None:
    F = gradient_namespace()

    def constant(host: Any) -> nd.NDArray:
        return nd.array(host, dtype=host.dtype)

    def shape_of(part: Any) -> Any:
        return part.shape if isinstance(part, nd.NDArray) else None

    @settings(max_examples=150, deadline=None)
    @given(subscripts(True))
    def check(case: Any) -> None:
        shape, key = case
        x = numbered(shape)
        key = for_array(key, not known)
        plain = for_array(key, True)
        # Only known index arrays may count from the back when they are written.
        plan = parse(key, shape, shape_of)
        assume(0 not in plan.result_shape)
        assert np.array_equal(read(F, x, plan, constant).asnumpy(), x[plain].asnumpy())
        value = -nd.arange(1, 1 + int(np.prod(plan.result_shape))).reshape(plan.result_shape)
        changed = write(F, x, plan, value, value.shape, constant)
        x[plain] = value
        selected = np.arange(np.prod(shape)).reshape(shape)[tuple(_host(k) for k in plain)]
        assume(len(set(selected.ravel())) == selected.size)
        assert np.array_equal(changed.asnumpy(), x.asnumpy())

    check()


def _host(part: Any) -> Any:
    return part.asnumpy() if isinstance(part, nd.NDArray) else part


# -- memory and recording --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "key", ["0", "-1", "1:", "0, 1", "0, 1:3", "1, 2, 1:3", "0:1, 1", "...", "None", "0:2, 0:3", "0, 0, 0", ":"]
)
def test_contiguous_subscripts_share_memory(key: str) -> None:
    x = numbered((2, 3, 4))
    view = eval(f"x[{key}]")
    view[:] = -1
    assert (x.asnumpy() == -1).sum() == view.size
    x[:] = 5
    assert (view.asnumpy() == 5).all()


@pytest.mark.parametrize("key", [":, 0", ":, ::2", "[0]", "::-1", "0, :, 1", "nd.array([1])"])
def test_other_subscripts_copy(key: str) -> None:
    x = numbered((2, 3, 4))
    eval(f"x[{key}]")[:] = -1
    assert (x.asnumpy() == np.arange(24).reshape(2, 3, 4)).all()


def test_views_of_views_and_of_reshaped_arrays_share_memory() -> None:
    x = nd.array(np.arange(24)).reshape(4, 6).T
    x.reshape(-1)[3:6].reshape((3, 1))[1] = 100
    assert x.asnumpy().ravel()[4] == 100


@pytest.mark.parametrize(
    "statement", ["a[:] = 2", "a[0] = 2", "a[:] = b", "a[0] += 1", "a += b", "a %= 2", "a[[0]] = b[0]", "b.copyto(a)"]
)
def test_writing_into_a_recorded_array_raises(statement: str) -> None:
    a, b = nd.ones((2, 3)), nd.ones((2, 3))
    a.attach_grad()
    with autograd.record(), pytest.raises(mx.MXNetError, match="Inplace operations"):
        exec(statement, {"a": a, "b": b})
    assert (a.asnumpy() == 1).all()


def test_a_recorded_value_overwrites_a_whole_array_with_its_gradient_and_refuses_a_part() -> None:
    a, u = nd.ones((2, 3)), nd.zeros((2, 3))
    a.attach_grad()
    with autograd.record():
        u[:] = a * 3
        y = u * 2
    y.backward()
    assert (a.grad.asnumpy() == 6).all()
    v = nd.zeros((2, 3))
    with autograd.record(), pytest.raises(mx.MXNetError, match=r"nd\.concat"):
        v[0] = a[0]
    with autograd.record(), pytest.raises(mx.MXNetError, match="Inplace"):
        v += a


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("9", IndexError), ("-3", IndexError), ("0, 99", IndexError), ("0, 0, 0, 0", IndexError), ("[5]", IndexError),
        ("nd.array([-3])", IndexError), ("..., ...", IndexError), ("True, :", IndexError), ("'a'", ValueError),
        ("1.0", ValueError), ("{}", ValueError), ("::0", ValueError), ("nd.array([1, 0], dtype='bool')", ValueError),
        ("[0], [0, 1, 2], [0, 1]", ValueError), (":, 1:1", mx.MXNetError), ("1:0", mx.MXNetError),
        ("[]", mx.MXNetError),
    ],
)  # fmt: skip
def test_bad_keys_raise(key: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(f"x[{key}]", {"x": numbered((2, 3, 4)), "nd": nd})


@pytest.mark.parametrize(
    ("value", "error"),
    [("nd.ones((7, 7))", ValueError), ("[1, 2]", ValueError), ("'a'", TypeError), ("None", TypeError),
     ("1j", TypeError), ("[[1, 2], [3]]", TypeError)],
)  # fmt: skip
def test_bad_values_raise(value: str, error: type[Exception]) -> None:
    x = numbered((2, 3, 4))
    with pytest.raises(error):
        exec(f"x[0] = {value}", {"x": x, "nd": nd})
    assert np.array_equal(x.asnumpy().ravel(), np.arange(24))


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("uint8", -1, 255),
        ("uint8", 300, 44),
        ("int32", 1.7, 1),
        ("int32", -1.7, -1),
        ("bool", 2, True),
        ("float32", True, 1),
    ],
)
def test_values_are_converted_like_in_c(dtype: str, value: Any, stored: Any) -> None:
    x = nd.zeros((2, 2), dtype=dtype)
    x[0] = value
    x[1] = nd.array([value]) if dtype != "uint8" else value
    assert (x.asnumpy() == stored).all()
