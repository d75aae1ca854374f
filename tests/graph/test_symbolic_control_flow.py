"""`sym.contrib.foreach`, `while_loop`, `cond`: files as MXNet 1.9.1 writes them, results as of imperative code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd, sym

RECORDED = Path(__file__).parent.parent / "data" / "symbols"


def foreach(F: Any, x: Any, s: Any) -> list[Any]:
    output, state = F.contrib.foreach(lambda d, s: (d * 2 + s, d + s), x, s)
    return [output, state]


def while_loop(F: Any, x: Any, s: Any) -> list[Any]:
    output, (i, a) = F.contrib.while_loop(
        lambda i, a: i < 3, lambda i, a: (a * i, [i + 1, a + 1]), [x, s], max_iterations=5
    )
    return [output, i, a]


def cond(F: Any, x: Any, s: Any) -> list[Any]:
    return [F.contrib.cond(x < 5, lambda: x * 2, lambda: s * 3)]


def captured(F: Any, x: Any, s: Any) -> list[Any]:
    outside = x * 3
    output, state = F.contrib.foreach(lambda d, s: (d * s[0] + outside.sum(), [s[0] + d, s[1] * d]), x, [s, s])
    return [output, *state]


def nested(F: Any, x: Any, s: Any) -> list[Any]:
    def row(d: Any, s: Any) -> Any:
        return F.contrib.foreach(lambda e, q: (e + q, e * q), d, s)

    output, state = F.contrib.foreach(row, x, s)
    return [output, state]


def passed_through(F: Any, x: Any, s: Any) -> list[Any]:
    output, state = F.contrib.foreach(lambda d, s: (d, s), x, s)
    return [output, state]


def twice_the_same(F: Any, x: Any, s: Any) -> list[Any]:
    output, last = F.contrib.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (a - b, [i + 1, a * 2, b + i]), [x, s, s], 4
    )
    return [output, *last]


SCALARS = (np.float32([1]), np.float32([10]))
ROWS = (np.float32([[1], [2]]), np.float32([10]))
CASES = [
    (foreach, ROWS), (while_loop, SCALARS), (cond, SCALARS), (cond, (np.float32([7]), np.float32([10]))),
    (captured, ROWS), (nested, (np.float32([[1, 2], [3, 4]]), np.float32([1]))), (passed_through, ROWS),
    (twice_the_same, SCALARS),
]  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_names(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("autohybrid.graph.symbol_control._used", {})
    with mx.name.NameManager():
        yield


def build(body: Any) -> Any:
    return mx.sym.Group(body(sym, mx.sym.var("x"), mx.sym.var("s")))


@pytest.mark.parametrize(("body", "name"), [(foreach, "foreach"), (while_loop, "while"), (cond, "cond")])
def test_the_file_is_what_mxnet_writes(body: Any, name: str) -> None:
    with mx.name.NameManager():
        whole = build(body)
    assert whole.tojson() == (RECORDED / f"{name}-symbol.json").read_text()


@pytest.mark.parametrize(("body", "values"), CASES, ids=[f"{c[0].__name__}{i}" for i, c in enumerate(CASES)])
def test_values_and_gradients_are_those_of_imperative_code(body: Any, values: Any) -> None:
    symbol = mx.sym.load_json(build(body).tojson())
    args = {n: nd.array(v) for n, v in zip("xs", values)}
    grads = {n: nd.zeros(a.shape) for n, a in args.items()}
    executor = symbol.bind(mx.cpu(), args, args_grad=grads)
    outputs = executor.forward(is_train=True)
    executor.backward([nd.ones(o.shape) for o in outputs])

    x, s = (nd.array(v) for v in values)
    x.attach_grad()
    s.attach_grad()
    with autograd.record():
        expected = body(nd, x, s)
    autograd.backward(expected)
    for got, want in zip(outputs, expected):
        assert np.allclose(got.asnumpy(), want.asnumpy())
    assert np.allclose(grads["x"].asnumpy(), x.grad.asnumpy())
    assert np.allclose(grads["s"].asnumpy(), s.grad.asnumpy())
    shapes = symbol.infer_shape(**{n: a.shape for n, a in args.items()})[1]
    assert shapes == [o.shape for o in outputs]


def test_parameters_made_in_a_body_are_arguments_and_get_their_shapes() -> None:
    def step(d: Any, s: Any) -> Any:
        y = sym.FullyConnected(d, num_hidden=2, name="i") + sym.FullyConnected(s, num_hidden=2, name="r", no_bias=True)
        return y, sym.tanh(y)

    output, state = sym.contrib.foreach(step, sym.var("x"), sym.var("s"))
    net = mx.sym.Group([output, state])
    assert net.list_arguments() == ["x", "s", "i_weight", "i_bias", "r_weight"]
    arguments, outputs, _ = net.infer_shape(x=(3, 1, 4), s=(1, 2))
    assert arguments == [(3, 1, 4), (1, 2), (2, 4), (2,), (2, 2)]
    assert outputs == [(3, 1, 2), (1, 2)]


def test_a_loop_without_steps_gives_zeros() -> None:
    values = build(while_loop).eval(x=nd.array([9]), s=nd.array([10]))
    assert values[0].asnumpy().tolist() == [[0]] * 5
    assert [v.asscalar() for v in values[1:]] == [9, 10]


def test_misuse_raises() -> None:
    x, s = sym.var("x"), sym.var("s")
    with pytest.raises(AssertionError, match="must be used"):
        sym.contrib.foreach(lambda d, s: (s + 1, s), x, s)
    with pytest.raises(ValueError, match="2 states for 1"):
        sym.contrib.foreach(lambda d, s: (d + s, [s, s]), x, s)
    with pytest.raises(TypeError, match="nested lists of them, not int"):
        sym.contrib.foreach(lambda d, s: (d + s, s), 3, s)
    with pytest.raises(ValueError, match="max_iterations"):
        sym.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), [x])
    with pytest.raises(ValueError, match="must be used in `func`"):
        sym.contrib.while_loop(lambda i, a: i < 3, lambda i, a: (i, [i + 1, i]), [x, s], max_iterations=2)
    with pytest.raises(ValueError, match="2 and 1 outputs"):
        sym.contrib.cond(x < 1, lambda: [x, s], lambda: [x])


@pytest.mark.parametrize(
    ("old", "new"),
    [('"in_data_locs": "[0]"', '"in_data_locs": "[7]"'), ('"in_state_locs": "[1]"', '"in_state_locs": "[0]"'),
     ('"num_outputs": "2"', '"num_outputs": "9"'), ('"subgraphs": [', '"subgraphs": [], "other": [')],
)  # fmt: skip
def test_a_damaged_file_raises(old: str, new: str) -> None:
    text = (RECORDED / "foreach-symbol.json").read_text()
    assert old in text
    with pytest.raises(mx.MXNetError, match="_foreach0"):
        mx.sym.load_json(text.replace(old, new))
