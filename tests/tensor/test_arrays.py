"""Arrays: making, copying, reshaping and arithmetic against recorded answers of MXNet 1.9.1; memory; other libraries.

`tests/data/tensor/arrays.json` holds `[statement, result]` for `x = arange(6)` as (2, 3) and `i = [1, 2]` as int32;
`recording.json` the same for `a` (with a gradient), `b` and `u` (zeros), all (2, 3), under `autograd.record()`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd

DATA = Path(__file__).parent.parent / "data" / "tensor"
ARRAYS = json.loads((DATA / "arrays.json").read_text())
RECORDING = json.loads((DATA / "recording.json").read_text())


def encoded(value: Any) -> Any:
    if isinstance(value, nd.NDArray):
        numbers = value.asnumpy().astype("float64").ravel().tolist()
        shown = [None if v != v else str(v) if abs(v) == float("inf") else v for v in numbers]
        return {"array": [np.dtype(value.dtype).name, list(value.shape), shown]}
    if isinstance(value, (list, tuple)):
        return {"list": [encoded(v) for v in value]}
    if isinstance(value, np.generic):
        return {"plain": value.item()}
    return (
        {"plain": value} if isinstance(value, (bool, int, float, str, type(None))) else {"type": type(value).__name__}
    )


@pytest.mark.filterwarnings("ignore:an array was copied onto itself")
@pytest.mark.parametrize(("statement", "expected"), ARRAYS, ids=[a[0] for a in ARRAYS])
def test_recorded_answer(statement: str, expected: Any) -> None:
    names: dict[str, Any] = {"x": nd.array(np.arange(6).reshape(2, 3)), "i": nd.array([1, 2], dtype="int32")}
    names.update(nd=nd, np=np, mx=mx, autograd=autograd)
    if "error" in expected:
        with pytest.raises(Exception) as caught:
            exec(statement, names)
        assert expected["error"] in [cls.__name__ for cls in type(caught.value).__mro__]
        return
    exec(statement, names)
    assert encoded(names["r"]) == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floor_division_rounds_towards_minus_infinity(dtype: str) -> None:
    x, y = nd.array([-3, 4, 5], dtype=dtype), nd.array([2, 2, -2], dtype=dtype)
    assert (x // 2).asnumpy().tolist() == [-2, 2, 2]
    assert (x // y).asnumpy().tolist() == [-2, 2, -3]
    assert (7 // y).asnumpy().tolist() == [3, 3, -4]
    same = x
    x //= y
    assert same is x and x.asnumpy().tolist() == [-2, 2, -3]
    x = nd.array([-3, 4, 5], dtype=dtype)
    a, b = mx.sym.var("a"), mx.sym.var("b")
    both = mx.sym.Group([a // b, a // 2, 7 // b])
    assert [r.asnumpy().tolist() for r in both.eval(a=x, b=y)] == [[-2, 2, -3], [-2, 2, 2], [3, 3, -4]]


@pytest.mark.parametrize(("statement", "expected"), RECORDING, ids=[r[0].split("\n", 1)[1] for r in RECORDING])
def test_recorded_gradient(statement: str, expected: Any) -> None:
    def plain(value: Any) -> Any:
        if isinstance(value, nd.NDArray):
            return [list(value.shape), value.asnumpy().ravel().astype("float64").tolist()]
        return [plain(v) for v in value] if isinstance(value, list) else value

    a, b, u = (nd.array(np.arange(6).reshape(2, 3) * k) for k in (1.0, 2.0, 0.0))
    a.attach_grad()
    names: dict[str, Any] = {"a": a, "b": b, "u": u, "nd": nd, "np": np, "autograd": autograd, "r": 0}
    if isinstance(expected, dict):
        with pytest.raises(mx.MXNetError):
            exec(statement, names)
        return
    exec(statement, names)
    assert plain(names["r"]) == expected


# -- memory ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "view",
    ["x.reshape(6, 4)", "x.expand_dims(0, inplace=True)", "x.squeeze(inplace=True)", "x.flatten(inplace=True)",
     "x.detach()", "x.as_in_context(mx.cpu())", "x.astype('float32', copy=False)", "x.as_nd_ndarray()"],
)  # fmt: skip
def test_views_share_memory(view: str) -> None:
    x = nd.ones((2, 3, 4))
    eval(view, {"x": x, "mx": mx})[:] = 0
    assert x.sum().asscalar() == 0


@pytest.mark.parametrize(
    "copy",
    ["nd.reshape(x, (6, 4))", "x.expand_dims(0)", "x.squeeze()", "x.flatten()", "x.T", "x.copy()", "nd.array(x)",
     "x.astype('float32')", "x.swapaxes(0, 1)", "x.broadcast_to((2, 3, 4))", "x.slice(begin=0, end=1)",
     "x.copyto(mx.cpu())", "x.as_in_context(mx.cpu(1))", "x.asnumpy()", "x.reshape_like(x)"],
)  # fmt: skip
def test_copies_do_not(copy: str) -> None:
    x = nd.ones((2, 3, 4))
    eval(copy, {"x": x, "nd": nd, "mx": mx})[:] = 0
    assert x.sum().asscalar() == 24


def test_memory_is_shared_with_numpy_and_through_dlpack() -> None:
    host = np.ones((2, 2))
    x = nd.from_numpy(host)
    assert x.dtype == np.float64
    assert not host.flags.writeable
    x[0] = 5
    assert host[0].tolist() == [5, 5]
    y = nd.from_dlpack(x.to_dlpack_for_write())
    y[1] = 7
    assert x.asnumpy().tolist() == [[5, 5], [7, 7]]
    assert np.array_equal(nd.from_dlpack(np.arange(3)).asnumpy(), np.arange(3))
    with pytest.raises(ValueError, match="C order"):
        nd.from_numpy(np.ones((2, 3)).T)


def test_gradients_pass_between_devices() -> None:
    a = nd.ones((2,))
    a.attach_grad()
    with autograd.record():
        y = a.as_in_context(mx.cpu(1)) * 3
    assert y.context == mx.cpu(1)
    y.backward()
    assert a.grad.context == mx.cpu(0)
    assert a.grad.asnumpy().tolist() == [3, 3]


# -- the graph of a recording ----------------------------------------------------------------------------------------
def test_get_symbol_gives_the_recorded_graph() -> None:
    a, b = nd.ones((2, 3)), nd.ones((2, 3))
    a.attach_grad()
    with mx.autograd.record():
        z = nd.FullyConnected(a * b + b, nd.ones((4, 3)), num_hidden=4, no_bias=True)
    symbol = mx.autograd.get_symbol(z)
    assert symbol.list_arguments() == ["var0", "null1", "null2"]
    assert symbol.list_outputs() == ["node_2_output"]
    value = symbol.eval(var0=a, null1=b, null2=nd.ones((4, 3)))[0]
    assert np.array_equal(value.asnumpy(), z.asnumpy())


def test_going_back_twice_needs_retain_graph() -> None:
    a = nd.ones((2,))
    a.attach_grad()
    for start in (lambda: a + a, lambda: a * a):
        with autograd.record():
            y = start()
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(mx.MXNetError, match="retain_graph=True"):
            y.backward()


def test_a_gradient_that_needs_no_saved_array_passes_through_a_finished_graph() -> None:
    a = nd.ones((2,))
    a.attach_grad()
    b = a
    for _ in range(2):
        with autograd.record():
            b = b + 1
            y = b * 3
        y.backward()
        assert a.grad.asnumpy().tolist() == [3, 3]


@pytest.mark.parametrize("variables", ["one", "list"])
def test_gradients_are_returned_as_a_list(variables: str) -> None:
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x
        found = autograd.grad(y, x if variables == "one" else [x], create_graph=True)
        assert isinstance(found, list) and len(found) == 1
        second = autograd.grad(found[0], x)
    assert [found[0].asnumpy().tolist(), second[0].asnumpy().tolist()] == [[2, 4, 6], [2, 2, 2]]
