"""Sizes become reshape codes, operators that follow a shape, or tensors of one element."""

from __future__ import annotations

import pytest
from fixes.fixing_support import fixed_body

RESHAPES = {
    "return x.reshape((x.shape[0], -1))": "return x.reshape((0, -1))",
    "n = x.shape[0]\nreturn F.reshape(x, shape=(n, -1))": "return F.reshape(x, shape=(0, -1))",
    "b, c, h, w = x.shape\nreturn x.reshape((b, c, h * w))": "return x.reshape((0, 0, -3))",
    "b, c, h, w = x.shape\nreturn x.reshape((b, 2, c // 2, h, w))": "return x.reshape((0, -4, 2, -1, 0, 0))",
    "b, c, h, w = x.shape\nreturn x.reshape((b * c, h, w))": "return x.reshape((-3, 0, 0))",
}


@pytest.mark.parametrize("body", RESHAPES)
def test_sizes_in_a_target_become_codes(body: str) -> None:
    assert fixed_body(body) == RESHAPES[body]


LIKE = {
    "return y.reshape(x.shape)": "return F.reshape_like(y, x)",
    "return F.zeros(x.shape) + y": "return F.zeros_like(x) + y",
    "return F.ones(shape=x.shape) + y": "return F.ones_like(x) + y",
    "return F.broadcast_to(y, shape=x.shape)": "return F.broadcast_like(y, x)",
    "return F.slice_axis(y, axis=1, begin=0, end=x.shape[1])": "return F.slice_like(y, x, axes=(1,))",
    "return F.broadcast_mul(y, F.arange(x.shape[1]))": "return F.broadcast_mul(y, F.contrib.arange_like(x, axis=1))",
    "h = F.zeros((x.shape[0], 4))\nreturn F.dot(y, h)": (
        "h = F.broadcast_like(F.zeros((1, 4)), x, lhs_axes=(0,), rhs_axes=(0,))\nreturn F.dot(y, h)"
    ),
}


@pytest.mark.parametrize("body", LIKE)
def test_a_shape_that_an_operator_takes_comes_from_the_tensor(body: str) -> None:
    assert fixed_body(body, inputs="x, y") == LIKE[body]


def test_a_size_in_arithmetic_becomes_a_tensor_that_broadcasts() -> None:
    size = "F.cast(F.slice_axis(F.shape_array(x), axis=0, begin=1, end=2), dtype='float32')"
    assert fixed_body("return F.sum(x, axis=1) / x.shape[1]") == f"return F.broadcast_div(F.sum(x, axis=1), {size})"
    assert fixed_body("n = x.shape[1]\nm = n * 2 + 1\nreturn x * m") == (
        f"n = {size}\nm = n * 2 + 1\nreturn F.broadcast_mul(x, m)"
    )


def test_the_shape_of_a_name_that_is_bound_anew_is_taken_before() -> None:
    body = "b, c = x.shape\nx = F.reshape(x, shape=(-1,))\nreturn x.reshape((b, c))"
    assert fixed_body(body) == "x_before = x\nx = F.reshape(x, shape=(-1,))\nreturn F.reshape_like(x, x_before)"


def test_a_size_that_must_be_a_number_is_left_alone() -> None:
    for body in (
        "y = F.relu(x)\nif y.shape[0] > 3:\n    y = y * 2\nreturn y",
        "y = F.relu(x)\nreturn F.tile(y, reps=y.shape[0])",
        "y = F.relu(x)\nfor i in range(y.shape[0]):\n    y = y * 2\nreturn y",
    ):
        assert fixed_body(body) == body


def test_a_helper_of_one_expression_is_written_out() -> None:
    helper = "def rows(t):\n    return t.shape[0]"
    assert fixed_body("return x.reshape((rows(x), -1))", before=helper) == "return x.reshape((0, -1))"
