"""Executors: buffers, gradients, missing head gradients, reshaping; as MXNet 1.9.1 does where nothing else is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd


def doubled(**options: Any) -> Any:
    return (mx.sym.var("a") * 2).bind(mx.cpu(), {"a": nd.ones((2,))}, **options)


def test_every_forward_writes_into_the_same_outputs() -> None:
    executor = doubled()
    before = executor.outputs
    first = executor.forward()
    second = executor.forward(a=nd.array([5, 6]))
    assert first is second is before is executor.outputs
    assert before[0].asnumpy().tolist() == [10, 12]
    executor.copy_params_from({"a": nd.array([7, 7])})
    assert executor.forward()[0].asnumpy().tolist() == [14, 14]


def test_gradients_are_written_added_or_left_out_also_after_predicting() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("b")
    grads = {"a": nd.ones((2,)), "b": nd.ones((2,))}
    args = {"a": nd.array([1, 2]), "b": nd.array([3, 4])}
    executor = (a * b).bind(mx.cpu(), args, args_grad=grads, grad_req={"a": "add", "b": "write"})
    for is_train in (True, False):
        executor.forward(is_train=is_train)
        executor.backward(nd.ones((2,)))
    assert grads["a"].asnumpy().tolist() == [7, 9]
    assert grads["b"].asnumpy().tolist() == [1, 2]
    assert executor.grad_dict["a"] is grads["a"]
    assert doubled().grad_arrays is None


@pytest.mark.parametrize("form", ["list", "tuple", "dict", "array"])
def test_head_gradients_come_in_several_forms(form: str) -> None:
    grads = {"a": nd.zeros((2,))}
    executor = doubled(args_grad=grads)
    executor.forward(is_train=True)
    head = nd.array([1, 10])
    by_name = {executor._symbol.list_outputs()[0]: head}
    executor.backward({"list": [head], "tuple": (head,), "array": head, "dict": by_name}[form])
    assert grads["a"].asnumpy().tolist() == [2, 20]


def test_backward_without_forward_is_at_the_arguments_as_they_are() -> None:
    grads = {"a": nd.zeros((2,))}
    squared = mx.sym.square(mx.sym.var("a")).bind(mx.cpu(), {"a": nd.array([3, 4])}, args_grad=grads)
    squared.backward(nd.ones((2,)))
    assert grads["a"].asnumpy().tolist() == [6, 8]


def test_head_gradients_take_the_dtype_of_their_output() -> None:
    grads = {"a": nd.zeros((2,), dtype="float64")}
    arguments = {"a": nd.array([3, 4], dtype="float64")}
    executor = mx.sym.square(mx.sym.var("a")).bind(mx.cpu(), arguments, args_grad=grads)
    executor.forward(is_train=True)
    executor.backward(nd.array([1, 0.5], dtype="float32"))
    assert grads["a"].asnumpy().tolist() == [6, 4]


def test_no_shape_is_asked_of_a_head_gradient_that_goes_nowhere() -> None:
    grads = {"a": nd.ones((2, 3))}
    executor = mx.sym.argmax(mx.sym.var("a"), axis=1).bind(mx.cpu(), {"a": nd.ones((2, 3))}, args_grad=grads)
    executor.forward(is_train=True)
    executor.backward(nd.ones((2, 3)))
    assert grads["a"].asnumpy().tolist() == [[0] * 3] * 2


@pytest.mark.parametrize("shapes", [((2, 3), (-1, -1)), ((2, -1), (3, -1)), ((2, 0), (3, 0))])
def test_open_extents_of_new_arrays_follow_from_the_graph(shapes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    total = mx.sym.ones(shape=shapes[0]) + mx.sym.transpose(mx.sym.ones(shape=shapes[1]))
    (result,) = total.bind(mx.cpu(), args={}).forward()
    assert result.asnumpy().tolist() == [[2] * 3] * 2


def test_only_losses_do_without_a_head_gradient() -> None:
    executor = doubled(args_grad={"a": nd.zeros((2,))})
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="pass `out_grads`"):
        executor.backward()
    with pytest.raises(mx.MXNetError, match="has shape"):
        executor.backward(nd.ones((3,)))
    loss = mx.sym.make_loss(mx.sym.var("a") * 3)
    grads = {"a": nd.zeros((2,))}
    executor = loss.bind(mx.cpu(), {"a": nd.ones((2,))}, args_grad=grads)
    executor.forward(is_train=True)
    executor.backward()
    assert grads["a"].asnumpy().tolist() == [3, 3]


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"a": nd.ones((3,))}, ValueError),
        ({"b": nd.ones((2,))}, TypeError),
        ({"a": 3}, ValueError),
        ({"a": [1, 2]}, ValueError),
    ],
)
def test_bad_arguments_of_forward_raise(keywords: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(keywords))):
        doubled().forward(**keywords)


def test_bad_arguments_of_bind_raise() -> None:
    symbol = mx.sym.var("a") * 2
    with pytest.raises(ValueError, match="key `a` is missing in `args`"):
        symbol.bind(mx.cpu(), {})
    with pytest.raises(ValueError, match="Length of args"):
        symbol.bind(mx.cpu(), [])
    with pytest.raises(ValueError, match="grad_req"):
        doubled(grad_req="maybe")
    with pytest.raises(RuntimeError, match="do not determine those of a"):
        symbol.simple_bind(mx.cpu())


def test_simple_bind_makes_arrays_of_inferred_shapes_and_dtypes_and_ignores_other_names() -> None:
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc")
    executor = net.simple_bind(mx.cpu(), x=(2, 4), other=(9,), type_dict={"x": "float64"}, grad_req="add")
    assert {n: (a.shape, a.dtype) for n, a in executor.arg_dict.items()} == {
        "x": ((2, 4), np.float64), "fc_weight": ((3, 4), np.float64), "fc_bias": ((3,), np.float64),
    }  # fmt: skip
    assert executor.outputs[0].shape == (2, 3)


def test_reshaping_shares_what_does_not_grow() -> None:
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc")
    executor = net.simple_bind(mx.cpu(), x=(5, 4))
    executor.arg_dict["fc_weight"][:] = 1
    smaller = executor.reshape(x=(2, 4))
    smaller.arg_dict["x"][:] = 1
    smaller.forward()
    assert executor.arg_dict["x"].sum().asscalar() == 8
    assert executor.outputs[0].asnumpy()[:2].tolist() == [[4, 4, 4]] * 2
    with pytest.raises(mx.MXNetError, match="allow_up_sizing"):
        executor.reshape(x=(6, 4))
    larger = executor.reshape(x=(6, 4), allow_up_sizing=True)
    larger.arg_dict["x"][:] = 7
    assert executor.arg_dict["x"].sum().asscalar() == 8
    with pytest.raises(mx.MXNetError, match="partial_shaping"):
        executor.reshape(x=(2, 3))


def test_cached_op_computes_and_is_recorded() -> None:
    op = nd.CachedOp(mx.sym.var("a") * mx.sym.var("b"))
    a = nd.array([1, 2])
    a.attach_grad()
    with mx.autograd.record():
        y = op(a, nd.array([3, 4]))
    y.backward()
    assert a.grad.asnumpy().tolist() == [3, 4]
    out = nd.zeros((2,))
    assert op(a, a, out=out) is out
    assert out.asnumpy().tolist() == [1, 4]
    with pytest.raises(ValueError, match="takes 2 arrays"):
        op(a)


def test_debug_text_shows_the_graph_and_the_memory_that_gradients_keep() -> None:
    data = mx.sym.var("data")
    squares = data
    for _ in range(4):
        squares = squares * squares

    def megabytes(symbol: mx.sym.Symbol, grad_req: str) -> int:
        text = symbol.simple_bind(mx.cpu(), data=(1 << 18,), grad_req=grad_req).debug_str()
        assert "Op:elemwise_mul, Name=" in text and "arg[1]=data(0) version=0" in text
        return int(text.split("Total ")[1].split(" MB")[0])

    assert [megabytes(squares, "write"), megabytes(squares, "null")] == [4, 2]
    assert megabytes(mx.sym.stop_gradient(squares), "write") == 2


def test_a_monitor_sees_outputs_or_inputs_too() -> None:
    hidden = mx.sym.FullyConnected(mx.sym.var("data", shape=(2, 3)), num_hidden=2, name="fc")
    executor = mx.sym.broadcast_add(hidden, mx.sym.var("b", shape=(1, 2)), name="sum").simple_bind(mx.cpu())
    seen: list[str] = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    executor.forward()
    assert seen == ["fc_output", "sum_output"]
    seen.clear()
    executor.set_monitor_callback(lambda name, array: seen.append(f"{name} {array.shape}"), monitor_all=True)
    executor.forward()
    assert seen == [
        "data (2, 3)", "fc_data (2, 3)", "fc_weight (2, 3)", "fc_weight (2, 3)", "fc_bias (2,)", "fc_bias (2,)",
        "fc_output (2, 2)", "sum_lhs (2, 2)", "b (1, 2)", "sum_rhs (1, 2)", "sum_output (2, 2)",
    ]  # fmt: skip
