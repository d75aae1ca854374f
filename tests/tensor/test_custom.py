"""Custom operators written in Python: arrays, the tape, graphs, files, hybridized blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, nd


class ScaledSum(mx.operator.CustomOp):
    """(a + b) * scale and a - b; counts its calls in the state, and remembers the scale between the passes."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.seen = 0.0

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], (in_data[0] + in_data[1]) * self.scale)
        self.assign(out_data[1], req[1], in_data[0] - in_data[1])
        self.seen = in_data[0].sum().asscalar()
        if is_train:
            aux[0][:] += 1

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        assert self.seen == in_data[0].sum().asscalar()
        self.assign(in_grad[0], req[0], out_grad[0] * self.scale + out_grad[1])
        self.assign(in_grad[1], req[1], out_grad[0] * self.scale - out_grad[1])


@mx.operator.register("scaled_sum_of_the_tests")
class ScaledSumProp(mx.operator.CustomOpProp):
    def __init__(self, scale: str = "2") -> None:
        super().__init__(need_top_grad=True)
        self.scale = float(scale)

    def list_arguments(self) -> list[str]:
        return ["a", "b"]

    def list_outputs(self) -> list[str]:
        return ["total", "difference"]

    def list_auxiliary_states(self) -> list[str]:
        return ["calls"]

    def infer_shape(self, in_shape: Any) -> Any:
        return [in_shape[0], in_shape[0]], [in_shape[0], in_shape[0]], [[1]]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> mx.operator.CustomOp:
        return ScaledSum(self.scale)


OP = {"op_type": "scaled_sum_of_the_tests"}


def inputs() -> tuple[nd.NDArray, nd.NDArray, nd.NDArray]:
    return nd.array([[1, 2]]), nd.array([[3, 5]]), nd.zeros((1,))


@pytest.mark.parametrize("by_name", [False, True])
def test_forward_backward_and_states_on_arrays(by_name: bool) -> None:
    a, b, calls = inputs()
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        if by_name:
            total, difference = nd.Custom(b=b, calls=calls, a=a, scale=3, **OP)
        else:
            total, difference = nd.Custom(a, b, calls, scale=3, **OP)
        again = nd.Custom(a * 2, b, calls, scale=3, **OP)[0]
        y = total + 10 * difference + 0 * again
    y.backward()
    assert total.asnumpy().tolist() == [[12, 21]]
    assert difference.asnumpy().tolist() == [[-2, -3]]
    assert a.grad.asnumpy().tolist() == [[13, 13]]
    assert b.grad.asnumpy().tolist() == [[-7, -7]]
    assert calls.asscalar() == 2


def test_symbols_infer_run_and_survive_a_file() -> None:
    symbol = mx.sym.Custom(mx.sym.var("a"), name="s", scale=3, **OP)
    symbol = mx.sym.load_json(symbol.tojson())
    assert symbol.list_arguments() == ["a", "s_b"]
    assert symbol.list_auxiliary_states() == ["s_calls"]
    assert symbol.list_outputs() == ["s_total", "s_difference"]
    assert symbol.infer_shape(a=(1, 2)) == ([(1, 2), (1, 2)], [(1, 2), (1, 2)], [(1,)])
    a, b, calls = inputs()
    grads = {"a": nd.zeros((1, 2)), "s_b": nd.zeros((1, 2))}
    executor = symbol.bind(mx.cpu(), {"a": a, "s_b": b}, args_grad=grads, aux_states={"s_calls": calls})
    outputs = executor.forward(is_train=True)
    executor.backward([nd.ones((1, 2)), nd.ones((1, 2)) * 10])
    assert outputs[0].asnumpy().tolist() == [[12, 21]]
    assert grads["a"].asnumpy().tolist() == [[13, 13]]
    assert grads["s_b"].asnumpy().tolist() == [[-7, -7]]
    assert calls.asscalar() == 1


class Net(gluon.HybridBlock):
    def hybrid_forward(self, F: Any, a: Any, b: Any, calls: Any) -> Any:
        total, difference = F.Custom(a, b, calls, op_type="scaled_sum_of_the_tests")
        return total * difference


def test_hybridized_block_agrees() -> None:
    net = Net()
    results = []
    for _ in range(2):
        for _ in range(2):
            a, b, calls = inputs()
            a.attach_grad()
            with autograd.record():
                y = net(a, b, calls)
            y.backward()
            results.append([v.asnumpy().tolist() for v in (y, a.grad, calls)])
        net.hybridize()
    assert results == [results[0]] * 4


def test_errors_name_what_is_wrong() -> None:
    a, b, calls = inputs()
    with pytest.raises(mx.MXNetError, match="did you mean 'scaled_sum_of_the_tests'"):
        nd.Custom(a, b, calls, op_type="scaled_sum_of_the_test")
    with pytest.raises(mx.MXNetError, match="`op_type`"):
        nd.Custom(a, b, calls)
    with pytest.raises(mx.MXNetError, match="input `calls` was not given"):
        nd.Custom(a, b, **OP)
    with pytest.raises(mx.MXNetError, match="unknown keyword argument `c`"):
        nd.Custom(a, b, calls, c=a, **OP)
    with pytest.raises(TypeError, match="takes 3 inputs"):
        nd.Custom(a, b, calls, a, **OP)
    with pytest.raises(TypeError, match="subclass"):
        mx.operator.register("x")(int)


def test_dtype_of_the_input_is_kept() -> None:
    outputs = nd.Custom(*[nd.ones((1, 2), dtype="float64")] * 2, nd.zeros((1,), dtype="float64"), **OP)
    assert outputs[0].dtype == np.float64


class _Loss(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] ** 2)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.assign(in_grad[0], req[0], in_data[0] * 10)


@mx.operator.register("headless_loss")
class _LossProp(mx.operator.CustomOpProp):
    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> _Loss:
        return _Loss()


def test_a_loss_needs_no_head_gradient() -> None:
    symbol = mx.sym.Custom(mx.sym.var("data"), op_type="headless_loss")
    executor = symbol.simple_bind(mx.cpu(), data=(2,))
    executor.forward(is_train=True, data=nd.array([1, 2]))
    executor.backward()
    assert executor.grad_dict["data"].asnumpy().tolist() == [10, 20]
