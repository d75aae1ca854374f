"""Subscripts become the operators that give what NDArray gives."""

from __future__ import annotations

import numpy
import pytest
from fixes.fixing_support import fixed_body

from autohybrid import nd

INDICES = {
    "x[1]": "F.squeeze(F.slice_axis(x, axis=0, begin=1, end=2), axis=0)",
    "x[-1]": "F.squeeze(F.slice_axis(x, axis=0, begin=-1, end=None), axis=0)",
    "x[-2]": "F.squeeze(F.slice_axis(x, axis=0, begin=-2, end=-1), axis=0)",
    "x[1:]": "F.slice_axis(x, axis=0, begin=1, end=None)",
    "x[:9]": "F.slice(x, begin=(None,), end=(9,))",
    "x[::2]": "F.slice(x, begin=(None,), end=(None,), step=(2,))",
    "x[:, ::-1]": "F.slice(x, begin=(None, None), end=(None, None), step=(None, -1))",
    "x[:, 1, :2]": "F.squeeze(F.slice(x, begin=(None, 1, None), end=(None, 2, 2)), axis=1)",
    "x[0, -1]": "F.squeeze(F.slice(x, begin=(0, -1), end=(1, None)), axis=(0, 1))",
    "x[..., 0]": "F.squeeze(F.slice_axis(x, axis=-1, begin=0, end=1), axis=-1)",
    "x[..., 1:, 0]": (
        "F.squeeze(F.slice_axis(F.slice_axis(x, axis=-1, begin=0, end=1), axis=-2, begin=1, end=None), axis=-1)"
    ),
    "x[None]": "F.expand_dims(x, axis=0)",
    "x[:, None]": "F.expand_dims(x, axis=1)",
    "x[1, None, :, 0]": (
        "F.expand_dims(F.squeeze(F.slice(x, begin=(1, None, 0), end=(2, None, 1)), axis=(0, 2)), axis=0)"
    ),
    "x[..., None]": "F.expand_dims(x, axis=-1)",
    "x[[0, -1]]": (
        "F.concat(F.slice_axis(x, axis=0, begin=0, end=1), F.slice_axis(x, axis=0, begin=-1, end=None), dim=0)"
    ),
}


@pytest.mark.parametrize("index", INDICES)
def test_subscript_gives_what_the_array_gives(index: str) -> None:
    expected = INDICES[index]
    assert fixed_body(f"return {index}") == f"return {expected}"
    x = nd.arange(24).reshape((2, 3, 4))
    wanted, got = eval(index, {"x": x}), eval(expected, {"x": x, "F": nd})
    assert got.shape == wanted.shape
    assert numpy.array_equal(got.asnumpy(), wanted.asnumpy())


def test_an_index_that_may_be_the_last_keeps_its_meaning() -> None:
    body = fixed_body("return x[self.k]", init="self.k = 1")
    assert body == "return F.squeeze(F.slice_axis(x, axis=0, begin=self.k, end=(self.k + 1) or None), axis=0)"


def test_only_slices_that_keep_every_axis_are_safe() -> None:
    body = "y = F.relu(x)\na = y[1:]\nb = y[1]\nreturn F.broadcast_add(a, b)"
    assert fixed_body(body, unsafe=False) == body.replace("y[1:]", "F.slice_axis(y, axis=0, begin=1, end=None)")
