"""Activation: relu, sigmoid, tanh, softrelu and softsign by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating
from autohybrid.tensor.special import logistic
from autohybrid.tensor.templates import Elementwise, is_simple, ufunc
from autohybrid.tensor.templates import logistic as logistic_template


def _softrelu(xp: Any, x: Any) -> Any:
    """log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|))."""
    result = xp.abs(x, out=xp.empty_like(x))
    xp.negative(result, out=result)
    xp.exp(result, out=result)
    xp.log1p(result, out=result)
    result += xp.maximum(x, x.dtype.type(0))
    return result


def _softsign(xp: Any, x: Any) -> Any:
    result = xp.abs(x, out=xp.empty_like(x))
    result += x.dtype.type(1)
    return xp.divide(x, result, out=result)


def _relu(xp: Any, x: Any) -> Any:
    """max(x, 0). Of NaN it is 0 in float32, as in MXNet's MKLDNN build; the operator `relu` keeps NaN."""
    return (xp.fmax if x.dtype == "float32" else xp.maximum)(x, x.dtype.type(0))


def _relu_lines(call: Any) -> list[str]:
    name = "fmax" if call.out_dtype == "float32" else "maximum"
    return [f"{call.out} = {call.function(name)}({call.inputs[0]}, {call.filled('zeros', 0.0)}{call.into()})"]


_FORWARD: dict[str, Callable[[Any, Any], Any]] = {
    "sigmoid": logistic,
    "tanh": lambda xp, x: xp.tanh(x),
    "softrelu": _softrelu,
    "softsign": _softsign,
}


def _kernel(xp: Any, attrs: Attrs, data: Any) -> Any:
    if attrs.act_type == "relu":
        return _relu(xp, data)
    return narrow(_FORWARD[attrs.act_type](xp, *widen(xp, data)), data)


def _has_template(call: Any) -> bool:
    return is_simple(call) and call.attrs.act_type in _TEMPLATES


_TEMPLATES: dict[str, Elementwise] = {
    "relu": Elementwise(_relu_lines),
    "tanh": ufunc("tanh"),
    "sigmoid": logistic_template,
}


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    head, output = heads[0], node.outputs[0]
    match node.attrs.act_type:
        case "relu":
            return F._backward_relu(head, output)
        case "sigmoid":
            return head * (output * (1 - output))
        case "tanh":
            return head * (1 - output * output)
        case "softrelu":  # the derivative is sigmoid(x) = 1 - exp(-y)
            return head * F.Activation(node.inputs[0], act_type="sigmoid")
        case _:  # softsign: y' = (1 - |y|) ** 2
            slope = 1 - F.abs(output)
            return head * (slope * slope)


def _relu_backward(xp: Any, attrs: Attrs, head: Any, output: Any) -> Any:
    return xp.multiply(head, output > 0, dtype=head.dtype)


def _relu_backward_lines(call: Any) -> list[str]:
    head, output = call.inputs
    is_positive = f"{call.function('greater')}({output}, {call.scalar('zero', 0.0)})"
    return [f"{call.out} = {call.function('multiply')}({head}, {is_positive}{call.into()})"]


OPERATORS = (
    OpDef(
        "Activation",
        _kernel,
        attrs=(Attr("act_type", "enum", choices=("relu", "sigmoid", "softrelu", "softsign", "tanh")),),
        infer_dtype=same_floating,
        grad=_grad,
        fast=Elementwise(lambda call: _TEMPLATES[call.attrs.act_type].lines(call), _has_template),
        aliases=("_npx_activation",),
        doc="An activation function by name, element by element: relu, sigmoid, tanh, softrelu (softplus), softsign.",
        samples=(
            *[Sample(((3, 5),), {"act_type": kind}, low=-3, high=3) for kind in ("relu", *_FORWARD)],
            Sample(((1,),), {"act_type": "sigmoid"}),
            Sample(((0, 3),), {"act_type": "tanh"}),
            Sample(((3,),), {"act_type": "mish"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_relu",
        _relu_backward,
        inputs=("head", "output"),
        grad=lambda F, node, heads: [F._backward_relu(heads[0], node.inputs[1]), None],
        fast=Elementwise(_relu_backward_lines),
        doc="`head` where `output` is positive, else 0: the gradient of relu.",
        samples=(Sample(((3, 5), (3, 5))),),
    ),
)
