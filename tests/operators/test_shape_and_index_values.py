"""Operators that move elements, against NumPy's formula for the same thing, and how their shapes are inferred."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autohybrid import autograd, nd
from autohybrid.errors import MXNetError
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.reshape_codes import resolve_reshape

X = np.arange(24, dtype="float32").reshape(2, 3, 4) % 7

FORMULAS: list[tuple[str, dict[str, Any], Callable[[Any], Any]]] = [
    ("reshape", {"shape": (-3, 0)}, lambda x: x.reshape(6, 4)),
    ("reshape", {"shape": (0, -4, 3, 1, -2)}, lambda x: x.reshape(2, 3, 1, 4)),
    ("reshape", {"shape": (0, -3), "reverse": True}, lambda x: x.reshape(2, 12)),
    ("Reshape", {"target_shape": (0, 6), "keep_highest": False}, lambda x: x.reshape(4, 6)),
    ("flatten", {}, lambda x: x.reshape(2, 12)),
    ("transpose", {"axes": (1, 2, 0)}, lambda x: x.transpose(1, 2, 0)),
    ("swapaxes", {"dim1": -1, "dim2": 0}, lambda x: x.swapaxes(-1, 0)),
    ("expand_dims", {"axis": -2}, lambda x: x[:, :, None]),
    ("flip", {"axis": (0, 2)}, lambda x: x[::-1, :, ::-1]),
    ("tile", {"reps": (2, 1, 1, 3)}, lambda x: np.tile(x, (2, 1, 1, 3))),
    ("repeat", {"repeats": 2, "axis": -2}, lambda x: x.repeat(2, 1)),
    ("repeat", {"repeats": 3}, lambda x: x.ravel().repeat(3)),
    ("diag", {"k": 1, "axis1": 2, "axis2": 0}, lambda x: np.diagonal(x, 1, 2, 0)),
    ("slice", {"begin": (None, -1), "end": (None, None), "step": (-1, -2)}, lambda x: x[::-1, -1::-2]),
    ("slice", {"begin": (1, 2), "end": (1, 3)}, lambda x: x[1:1, 2:3]),
    ("slice_axis", {"axis": -1, "begin": -3, "end": None}, lambda x: x[..., -3:]),
    ("sort", {"axis": 1, "is_ascend": False}, lambda x: np.sort(x, 1)[:, ::-1]),
    ("sort", {"axis": None}, lambda x: np.sort(x.ravel())),
    ("argsort", {"axis": 2, "dtype": "int64"}, lambda x: np.argsort(x, 2, kind="stable")),
    ("topk", {"axis": 1, "k": 2, "ret_typ": "value"}, lambda x: -np.sort(-x, 1)[:, :2]),
    ("topk", {"axis": None, "k": 5, "dtype": "int32"}, lambda x: np.argsort(-x.ravel(), kind="stable")[:5]),
    ("topk", {"k": 2, "is_ascend": True, "dtype": "int32"}, lambda x: np.argsort(x, -1, kind="stable")[..., :2]),
    ("one_hot", {"depth": 5, "off_value": -1}, lambda x: np.where(x[..., None] == np.arange(5), 1, -1)),
    ("shape_array", {}, lambda x: np.array([2, 3, 4])),
    ("size_array", {}, lambda x: np.array([24])),
    ("unravel_index", {"shape": (2, 4)}, lambda x: np.stack([x // 4, x % 4])),
]


@pytest.mark.parametrize("name, attrs, formula", FORMULAS, ids=[f"{n}-{a}" for n, a, _ in FORMULAS])
def test_values_are_numpys(name: str, attrs: dict[str, Any], formula: Callable[[Any], Any]) -> None:
    result = getattr(nd, name)(nd.array(X), **attrs)
    expected = formula(X)
    assert result.shape == expected.shape
    np.testing.assert_array_equal(result.asnumpy(), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("ascending", [True, False])
def test_order_of_every_dtype_keeps_ties(dtype: str, ascending: bool) -> None:
    values = np.array([[3, 1, 3, 0, 1], [100, -2, 100, 7, -2]]).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[0, :2] = [-0.0, np.inf]
        values[1, 3] = -np.inf
    order = nd._internal._sort_order(nd.array(values, dtype=dtype), is_ascend=ascending).asnumpy()
    wide = values.astype("float64")
    np.testing.assert_array_equal(order, np.argsort(wide if ascending else -wide, axis=1, kind="stable"))


def test_negative_zero_is_no_smaller_than_zero() -> None:
    order = nd.argsort(nd.array([0.0, -0.0, 0.0, -1.0]), dtype="int32").asnumpy()
    assert order.tolist() == [3, 0, 1, 2]


def test_gathers_add_gradients_up_where_they_read_twice() -> None:
    data, index = nd.array(X[0]), nd.array([0, 2, 2, 0, 0])
    data.attach_grad()
    with autograd.record():
        loss = nd.take(data, index).sum() + nd.gather_nd(data, nd.array([[1, 1], [3, 3]])).sum()
    loss.backward()
    expected = np.array([[3.0] * 4, [0, 0, 0, 2], [2] * 4])
    np.testing.assert_array_equal(data.grad.asnumpy(), expected)


def test_the_last_value_for_one_place_stays() -> None:
    placed = nd.scatter_nd(nd.array([1.0, 2, 3]), nd.array([[0, 0, 1], [1, 1, 0]]), shape=(2, 2))
    assert placed.asnumpy().tolist() == [[0, 2], [3, 0]]


@pytest.mark.parametrize(
    "source, codes, reverse, expected",
    [
        ((2, 3, 4), (0, -1), False, (2, 12)),
        ((-1, 3, 4), (0, -1), False, (-1, 12)),
        ((-1, 3, 4), (-1, 4), False, (-1, 4)),
        ((-1, 3, 4), (-3, 0), False, (-1, 4)),
        ((8, 3, 4), (-1, 0), True, (24, 4)),
        ((6, 4), (-4, -1, 2, 0), False, (3, 2, 4)),
        ((-1, 6), (0, -4, 2, -1), False, (-1, 2, 3)),
        ((2, 0), (0, -2), False, (2, 0)),
        ((1, 2, 3, 64), (-2, -1, 16, -4), True, (1, 2, 3, 4, 16)),
    ],
)
def test_reshape_codes(source: Any, codes: Any, reverse: bool, expected: Any) -> None:
    assert resolve_reshape(source, codes, reverse) == expected


@pytest.mark.parametrize(
    "source, codes, reverse, message",
    [
        ((2, 3), (-1, -1), False, "only one extent"),
        ((2, 3), (0, 0, 0), False, "needs a further axis"),
        ((2, 3), (4, -1), False, "do not divide"),
        ((2, 3), (7,), False, "7 elements"),
        ((2, 3), (-5, 1), False, "-5 is not a reshape code"),
        ((4, 3), (-4, 3, 2, 0), False, "cannot split"),
        ((4, 3), (-4, 2), False, "two extents behind"),
        ((4, 3), (0, -4, 2, 2), True, "needs a further axis"),
    ],
)
def test_reshape_codes_that_do_not_fit_are_explained(source: Any, codes: Any, reverse: bool, message: str) -> None:
    with pytest.raises(MXNetError, match=message):
        resolve_reshape(source, codes, reverse)


UNKNOWN = None
INFERENCE: list[tuple[str, dict[str, Any], list[Any], list[Any], list[Any], list[Any]]] = [
    ("Reshape", {"shape": (0, -1)}, [(-1, 3, 4)], [UNKNOWN], [(-1, 3, 4)], [(-1, 12)]),
    ("Reshape", {"shape": (-1, 4)}, [(-1, 3, 4)], [(6, 4)], [(2, 3, 4)], [(6, 4)]),
    ("Flatten", {}, [(-1, 3, 4)], [UNKNOWN], [(-1, 3, 4)], [(-1, 12)]),
    ("transpose", {"axes": (1, 0)}, [UNKNOWN], [(3, 2)], [(2, 3)], [(3, 2)]),
    ("expand_dims", {"axis": 1}, [UNKNOWN], [(3, 1, 2)], [(3, 2)], [(3, 1, 2)]),
    ("squeeze", {"axis": 1}, [(-1, 1, 2)], [UNKNOWN], [(-1, 1, 2)], [(-1, 2)]),
    ("Concat", {"dim": 1, "num_args": 2}, [(2, 3), UNKNOWN], [(2, 7)], [(2, 3), (2, 4)], [(2, 7)]),
    ("Concat", {"dim": 0, "num_args": 2}, [(-1, 3), (4, -1)], [UNKNOWN], [(-1, 3), (4, 3)], [(-1, 3)]),
    ("stack", {"axis": 1, "num_args": 2}, [(2, 3), UNKNOWN], [UNKNOWN], [(2, 3), UNKNOWN], [(2, 2, 3)]),
    ("SliceChannel", {"num_outputs": 2}, [UNKNOWN], [(2, 3), UNKNOWN], [(2, 6)], [(2, 3), (2, 3)]),
    ("slice", {"begin": (0, 1), "end": (None, 3)}, [(-1, 4)], [UNKNOWN], [(-1, 4)], [(-1, 2)]),
    ("slice_axis", {"axis": 0, "begin": 0, "end": 1}, [(-1, 4)], [UNKNOWN], [(-1, 4)], [(-1, 4)]),
    ("take", {"axis": 1}, [(2, 3), (-1, 5)], [UNKNOWN], [(2, 3), (-1, 5)], [(2, -1, 5)]),
    ("pick", {"axis": 1}, [(2, 3), UNKNOWN], [UNKNOWN], [(2, 3), (2,)], [(2,)]),
    ("gather_nd", {}, [(2, 3, 4), (2, -1)], [UNKNOWN], [(2, 3, 4), (2, -1)], [(-1, 4)]),
    ("one_hot", {"depth": 3}, [(-1,)], [UNKNOWN], [(-1,)], [(-1, 3)]),
    ("broadcast_to", {"shape": (0, 3)}, [(-1, 1)], [UNKNOWN], [(-1, 1)], [(-1, 3)]),
    ("Pad", {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 1, 0, 2)}, [(-1, 2, 3, 3)], [UNKNOWN], [(-1, 2, 3, 3)],
     [(-1, 2, 5, 5)]),
    ("_zeros", {"shape": (0, 3)}, [], [UNKNOWN], [], [(-1, 3)]),
]  # fmt: skip


@pytest.mark.parametrize("name, attrs, ins, outs, all_ins, all_outs", INFERENCE, ids=[c[0] for c in INFERENCE])
def test_shapes_are_inferred_from_what_is_known(
    name: str, attrs: dict[str, Any], ins: list[Any], outs: list[Any], all_ins: list[Any], all_outs: list[Any]
) -> None:
    op = get_operator(name)
    assert op.infer_shape is not None
    found_ins, found_outs = op.infer_shape(op.parse(attrs), ins, outs)
    assert list(found_ins) == all_ins
    assert list(found_outs) == all_outs


def test_constant_steps_write_zeros_over_an_old_gradient() -> None:
    data, other = nd.array([[3.0, 1], [0, 2]]), nd.ones((2, 2))
    data.attach_grad()
    other.attach_grad(grad_req="add")
    data.grad[:] = float("nan")
    other.grad[:] = 7
    with autograd.record():
        loss = nd.topk(nd.square(data) + other, k=1).sum()
    loss.backward()
    assert (data.grad.asnumpy() == 0).all()
    assert (other.grad.asnumpy() == 7).all()
    with autograd.record():
        loss = (nd.topk(nd.square(data), k=1) + data.sum(axis=1, keepdims=True)).sum()
    loss.backward()
    assert (data.grad.asnumpy() == 1).all()


@pytest.mark.parametrize("last", [3, -4])
def test_an_index_tuple_outside_the_array_is_an_index_error(last: int) -> None:
    with pytest.raises(IndexError, match=r"gather_nd.*out of bounds"):
        nd.gather_nd(nd.array(X[0, :, :3]), nd.array([[0, 1], [0, last]]))
