"""Values taken to the host, branches, loops and items."""

from __future__ import annotations

import pytest
from fixes.fixing_support import fixed, fixed_body

from autohybrid.diagnostics.rule import forward

BODIES = {
    "return x / x.max().asscalar()": "return F.broadcast_div(x, F.stop_gradient(x.max()))",
    "m = float(x.mean().asscalar())\nreturn x - m * 2": (
        "m = F.stop_gradient(x.mean())\nreturn F.broadcast_sub(x, m * 2)"
    ),
    "y = F.relu(x)\ny += F.sum(x).asscalar()\nreturn y": (
        "y = F.relu(x)\ny = F.broadcast_add(y, F.stop_gradient(F.sum(x)))\nreturn y"
    ),
    "y = F.relu(x)\nif not y.sum() > 3:\n    y = y * 2\nreturn y": (
        "y = F.relu(x)\ny = F.contrib.cond((y.sum() > 3) == 0, lambda: y * 2, lambda: y)\nreturn y"
    ),
    "y = F.relu(x)\nwhile y.max() > 1:\n    y = y / 2\nreturn y": (
        "y = F.relu(x)\nfor _ in range(64):\n    going = y.max() > 1\n"
        "    y = F.where(F.broadcast_mul(F.ones_like(y), going), y / 2, y)\nreturn y"
    ),
    "total = 0\nfor row in F.relu(x):\n    total += row * row\nreturn total": (
        "total = F.sum(F.contrib.foreach(lambda row, states: (row * row, states), F.relu(x), [])[0], axis=0)\n"
        "return total"
    ),
    "return F.stack(*[F.softmax(row) for row in F.relu(x)])": (
        "return F.contrib.foreach(lambda row, states: (F.softmax(row), states), F.relu(x), [])[0]"
    ),
    "y = F.relu(x)\ny[:, 1] = 3\nreturn y": (
        "y = F.relu(x)\n"
        "y = F.where(F._internal._slice_assign_scalar(F.zeros_like(y), scalar=1, begin=(None, 1), end=(None, 2)), "
        "F.ones_like(y) * 3, y)\nreturn y"
    ),
    "y = F.relu(x)\ny[1:] = 0\nreturn y": (
        "y = F.relu(x)\n"
        "y = F.where(F._internal._slice_assign_scalar(F.zeros_like(y), scalar=1, begin=(1,), end=(None,)), "
        "F.ones_like(y) * 0, y)\nreturn y"
    ),
    "y = F.relu(x)\nreturn max(y, 0)": "y = F.relu(x)\nreturn F.maximum(y, 0)",
    "w = F.array([[0.5, 2]])\nreturn F.broadcast_mul(x, w)": (
        "w = F.reshape(F.concat(*[F.full((1,), value) for value in (0.5, 2)], dim=0), shape=(1, 2))\n"
        "return F.broadcast_mul(x, w)"
    ),
    "return F.greater(x, 0.5) * F.lesser(x, 2)": "return (x > 0.5) * (x < 2)",
}


@pytest.mark.parametrize("body", BODIES)
def test_body_becomes(body: str) -> None:
    assert fixed_body(body) == BODIES[body]


def test_sides_that_use_different_tensors_are_both_computed() -> None:
    """MXNet's `cond` leaves gradients unset of what only the side not taken uses."""
    body = "return self.a(x) if F.sum(x) > 0 else self.b(x)"
    text = fixed_body(body, init="self.a = nn.Dense(2, in_units=3)\nself.b = nn.Dense(2, in_units=3)")
    assert text == (
        "chosen = self.a(x)\nreturn F.where(F.broadcast_mul(F.ones_like(chosen), F.sum(x) > 0), chosen, self.b(x))"
    )


def test_a_field_that_is_read_stays() -> None:
    body = "self.last = F.relu(x)\nreturn self.last * 2"
    assert fixed_body(body, init="self.last = None") == body


def test_a_helper_gets_the_namespace() -> None:
    helper = "def swish(x):\n    y = nd.sigmoid(x)\n    return x * y"
    text = fixed(forward("return swish(x)", before=helper))
    assert "def swish(F, x):\n    y = F.sigmoid(x)\n" in text
    assert "return swish(F, x)" in text


def test_a_plain_block_becomes_a_hybrid_one() -> None:
    plain = "class Twice(gluon.Block):\n    def forward(self, x):\n        return x * 2"
    text = fixed(forward("return self.body(x)", before=plain, init="self.body = Twice()"))
    assert "class Twice(gluon.HybridBlock):\n    def hybrid_forward(self, F, x):\n" in text
