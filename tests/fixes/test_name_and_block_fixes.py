"""Fixes of names that are not there, of blocks that are hidden, of modes and results."""

from __future__ import annotations

import pytest
from fixes.fixing_support import fixed, fixed_body

from autohybrid.diagnostics.rule import forward

MODE = "F.abs(F.Dropout(F.ones((1,)), p=0.5) - 1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return F.softmaxx(x)", "return F.softmax(x)"),
        ("return F.contrib.arange_lik(x, axis=1)", "return F.contrib.arange_like(x, axis=1)"),
        ("return F.hypot(x, x * 2)", "return F.broadcast_hypot(x, x * 2)"),
        ("return F.full_like(x, 3)", "return F.ones_like(x) * 3"),
        ("return F.full_like(x, 3).sum()", "return (F.ones_like(x) * 3).sum()"),
        ("return F.moveaxis(x, 0, 1)", "return F.swapaxes(x, 0, 1)"),
        ("return F.moveaxis(x, -2, -1)", "return F.swapaxes(x, -2, -1)"),
        ("return F.softmax(x, axs=1)", "return F.softmax(x, axis=1)"),
        ("return F.softmax(x, dim=1)", "return F.softmax(x, axis=1)"),
        ("return F.concat(x, x, axis=1)", "return F.concat(x, x, dim=1)"),
        ("return F.clip(x, min=0, max=1)", "return F.clip(x, a_min=0, a_max=1)"),
    ],
)
def test_a_misspelt_name_becomes_the_right_one(before: str, after: str) -> None:
    assert fixed_body(before) == after


@pytest.mark.parametrize("body", ["return F.moveaxis(x, 0, 2)", "return F.hypot(x, 3)", "return F.no_such_thing(x)"])
def test_names_without_a_counterpart_stay(body: str) -> None:
    assert fixed_body(body) == body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x.reshape((x.shape[0] * x.shape[1], x.shape[2]))", "return x.reshape((-3, 0))"),
        ("return x.reshape((x.shape[0], x.shape[1] * x.shape[2]))", "return x.reshape((0, -3))"),
        ("return x.reshape(x.shape[0] * x.shape[1], x.shape[2])", "return x.reshape((-3, 0))"),
        ("return x[:, :y.shape[1]] * y", "return F.slice_like(x, y, axes=(1,)) * y"),
        ("return x[:y.shape[0], :y.shape[1]] * y", "return F.slice_like(x, y, axes=(0, 1)) * y"),
    ],
)
def test_sizes_beside_each_other_are_seen_together(before: str, after: str) -> None:
    assert fixed_body(before, "x, y") == after


HEADS = "b, h, t, d = x.shape\ny = {0}\nreturn y.reshape((b, t, h * d))"


@pytest.mark.parametrize(
    "transpose",
    [
        "F.transpose(x, axes=(0, 2, 1, 3))",
        "x.transpose((0, 2, 1, 3))",
        "F.swapaxes(x, 1, 2)",
        "x.swapaxes(dim1=1, dim2=2)",
    ],
)
def test_sizes_are_followed_through_a_transpose(transpose: str) -> None:
    assert fixed_body(HEADS.format(transpose)) == f"y = {transpose}\nreturn y.reshape((0, 0, -3))"


@pytest.mark.parametrize(
    "body",
    [
        HEADS.format("F.transpose(F.relu(x), axes=(0, 2, 1, 3))"),
        "b, t, d = x.shape\ny = F.transpose(x, axes=(2, 0, 1))\nreturn y.reshape((b, t, d))",
    ],
)
def test_sizes_in_another_order_are_not_taken_for_codes(body: str) -> None:
    after = fixed_body(body)
    assert "(0, 0" not in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("height=x.shape[2] * 2, width=3 * x.shape[3]", "x, scale_height=2, scale_width=3"),
        ("height=y.shape[2], width=y.shape[3]", "x, y, mode='like'"),
        ("height=y.shape[3], width=y.shape[2]", "x, height=y.shape[3], width=y.shape[2]"),
    ],
)
def test_a_size_to_resize_to_is_followed(before: str, after: str) -> None:
    call = "return F.contrib.BilinearResize2D({0}) + y"
    assert fixed_body(call.format(f"x, {before}"), "x, y") == call.format(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return F.full(x.shape, 2.0) * x", "return (F.ones_like(x) * 2.0) * x"),
        ("return x + F.zeros(x.shape, dtype=x.dtype)", "return x + F.zeros_like(x)"),
        ("return x + F.zeros(x.shape, dtype='float32')", "return x + F.zeros_like(x)"),
    ],
)
def test_a_filled_tensor_takes_the_shape_of_another(before: str, after: str) -> None:
    assert fixed_body(before) == after


def test_a_missing_argument_is_asked_for_by_none() -> None:
    assert fixed_body("y = y or x\nreturn y * 2", "x, y=None") == "y = y if y is not None else x\nreturn y * 2"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return F.tanh(x), None", "return F.tanh(x)"),
        ("return F.tanh(x), None, x * 2", "return (F.tanh(x), x * 2)"),
        ("return F.tanh(x), s", "return F.tanh(x) if s is None else (F.tanh(x), s)"),
        ("return s, F.tanh(x), x * 2", "return (F.tanh(x), x * 2) if s is None else (s, F.tanh(x), x * 2)"),
    ],
)
def test_none_leaves_the_result(before: str, after: str) -> None:
    assert fixed_body(before, "x, s=None") == after


def test_an_optional_state_that_gets_a_value_is_no_none() -> None:
    body = "if s is None:\n    s = F.zeros_like(x)\nreturn F.tanh(x), s"
    assert fixed_body(body, "x, s=None") == body


@pytest.mark.parametrize(
    ("init", "blocks"),
    [
        ("self.parts = [nn.Dense(3), nn.Dense(2)]", "self.parts"),
        ("self.parts = [nn.Dense(n) for n in (3, 2)]\nself.scale = 2  # kept", "self.parts"),
        ("self.parts = {'a': nn.Dense(3)}", "self.parts.values()"),
    ],
)
def test_hidden_blocks_are_registered_at_the_end_of_the_constructor(init: str, blocks: str) -> None:
    body = "for part in self.parts:\n    x = part(x)\nreturn x" if "{" not in init else "return self.parts['a'](x)"
    before = forward(body, init=init)
    after = fixed(before)
    lines = [line.strip() for line in after.split("\n")]
    at = lines.index(f"for child in {blocks}:")
    assert lines[at + 1] == "self.register_child(child)" and lines[at + 2] == ""
    assert "\n".join(line for n, line in enumerate(after.split("\n")) if n not in (at, at + 1)) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "return x if autograd.is_training() else F.tanh(x)",
            f"return F.where(F.broadcast_mul(F.ones_like(x), {MODE}), x, F.tanh(x))",
        ),
        (
            "if not autograd.is_training():\n    x = F.clip(x, 0, 1)\nreturn x * 2",
            f"x = F.where(F.broadcast_mul(F.ones_like(x), 1 - {MODE}), F.clip(x, 0, 1), x)\nreturn x * 2",
        ),
    ],
)
def test_a_training_branch_chooses_by_dropout(before: str, after: str) -> None:
    assert fixed_body(before) == after


def test_recording_has_no_counterpart_in_a_graph() -> None:
    body = "return x if autograd.is_recording() else F.tanh(x)"
    assert fixed_body(body) == body
