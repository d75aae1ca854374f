"""LeakyReLU: the rectifiers with a slope for negative values, and gelu."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating, unify
from autohybrid.tensor.special import erf
from autohybrid.tensor.templates import Elementwise, is_simple

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "gamma") if attrs.act_type == "prelu" else ("data",)


def _outputs(attrs: Attrs) -> tuple[str, ...]:
    return ("output", "mask") if attrs.act_type == "rrelu" else ("output",)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    known: list[Shape] = [data]
    if attrs.act_type == "prelu" and data is not None:
        channels = data[1] if len(data) > 1 else data[0]
        gamma = ins[1] if ins[1] is not None else (channels,)
        if -1 in gamma and len(gamma) == 1:
            gamma = (channels,)
        if -1 not in gamma and -1 not in data:
            _aligned(gamma, data)
        known.append(gamma)
    elif attrs.act_type == "prelu":
        known.append(ins[1])
    return known, [data] * len(outs)


def _kernel(xp: Any, attrs: Attrs, data: Any, gamma: Any = None, *, train: bool, rng: Any) -> Any:
    (x,) = widen(xp, data)
    match attrs.act_type:
        case "leaky":
            return narrow(_bent(xp, x, x.dtype.type(attrs.slope)), data)
        case "prelu":
            return narrow(_bent(xp, x, _slopes(gamma, x)), data)
        case "elu":
            return narrow(_exponential(xp, x, 1.0, attrs.slope), data)
        case "selu":
            return narrow(_exponential(xp, x, _SELU_SCALE, _SELU_SCALE * _SELU_ALPHA), data)
        case "gelu":
            result = erf(xp, x * x.dtype.type(math.sqrt(0.5)))
            result += x.dtype.type(1)
            result *= x * x.dtype.type(0.5)
            return narrow(result, data)
        case _:
            return _randomized(xp, attrs, data, train, rng)


def _bent(xp: Any, x: Any, slope: Any) -> Any:
    """`x`, negative values times `slope`; four plain passes are several times faster than `where`."""
    zero = x.dtype.type(0)
    result = xp.minimum(x, zero) * slope
    result += xp.maximum(x, zero)
    return result


def _exponential(xp: Any, x: Any, scale: float, alpha: float) -> Any:
    """`scale * x`, for negative values `alpha * (exp(x) - 1)`."""
    zero = x.dtype.type(0)
    result = xp.minimum(x, zero)
    xp.expm1(result, out=result)
    result *= x.dtype.type(alpha)
    positive = xp.maximum(x, zero)
    if scale != 1:
        positive *= x.dtype.type(scale)
    result += positive
    return result


def _aligned(gamma: tuple[int, ...], data: tuple[int, ...]) -> list[int]:
    """The shape in which gamma broadcasts over the data; its extents belong to axes 1 and 0, whichever fit.

    MXNet 1.9.1: (channels,), (1,), (batch, channels), and (batch,) where only that fits. Raises MXNetError for others.
    """
    result, left = [1] * len(data), list(gamma)
    for axis in (1, 0):
        if axis < len(data) and left and left[-1] in (1, data[axis]):
            result[axis] = left.pop()
    if left:
        channels = data[1] if len(data) > 1 else data[0]
        raise MXNetError(f"`gamma` must have shape ({channels},) or (1,) for data of shape {data}, got {gamma}")
    return result


def _slopes(gamma: Any, x: Any) -> Any:
    """gamma so that it broadcasts over `x`."""
    return gamma.astype(x.dtype, copy=False).reshape(_aligned(gamma.shape, x.shape))


def _randomized(xp: Any, attrs: Attrs, data: Any, train: bool, rng: Any) -> tuple[Any, Any]:
    """The output of rrelu and the factor that every element was multiplied by."""
    if train:
        low, high = attrs.lower_bound, attrs.upper_bound
        slope = rng.random(data.shape, dtype=xp.float32) * xp.float32(high - low) + xp.float32(low)
    else:
        slope = (attrs.lower_bound + attrs.upper_bound) / 2
    mask = xp.where(data > 0, xp.float32(1), slope).astype(data.dtype)
    return data * mask, mask


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    data, output, head, attrs = node.inputs[0], node.outputs[0], heads[0], node.attrs
    match attrs.act_type:
        case "prelu":
            return F._backward_prelu(head, data, node.inputs[1])
        case "rrelu":
            return head * node.outputs[1]
        case "gelu":
            normal = F.exp(data * data * -0.5) * (1 / math.sqrt(2 * math.pi))
            return head * ((F.erf(data * math.sqrt(0.5)) + 1) * 0.5 + data * normal)
    positive = data > 0
    if attrs.act_type == "leaky":
        return head * (positive * (1 - attrs.slope) + attrs.slope)
    alpha, scale = (_SELU_SCALE * _SELU_ALPHA, _SELU_SCALE) if attrs.act_type == "selu" else (attrs.slope, 1.0)
    return head * (positive * scale + (1 - positive) * (output + alpha))


def _prelu_backward(xp: Any, attrs: Attrs, head: Any, data: Any, gamma: Any) -> tuple[Any, Any]:
    h, x = widen(xp, head, data)
    negative = x <= 0
    to_data = h * (negative * (_slopes(gamma, x) - x.dtype.type(1)) + x.dtype.type(1))
    missed = h * x * negative
    shared = tuple(a for a, extent in enumerate(_aligned(gamma.shape, x.shape)) if extent == 1)
    return narrow(to_data, data), narrow(missed.sum(axis=shared).reshape(gamma.shape), gamma)


def _prelu_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # backward is (s(x) h, sum(n(x) x h)) with s = gamma where x <= 0, else 1, and n = 1 where x <= 0, else 0
    (head, data, gamma), (u, v) = node.inputs, heads
    scaled = F._backward_prelu(u, data, gamma)[0]
    negative = data <= 0
    to_head = scaled + F.LeakyReLU(data, v, act_type="prelu") - data * (1 - negative)
    to_data = F._backward_prelu(head, data, v)[0] - head * (1 - negative)
    to_gamma = F._backward_prelu(u * head, -negative, gamma)[1]
    return [to_head, to_data, -to_gamma]


def _prelu_backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(unify(ins[0], ins[1]), outs[0])
    return [data, data, ins[2]], [data, ins[2]]


def _has_template(call: Any) -> bool:
    return is_simple(call) and call.attrs.act_type in ("leaky", "elu", "selu", "gelu")


# gelu is x / 2 * (1 + tanh(x * P(x * x))) to 7e-7, with x * x cut off at _GELU_LIMIT.
_GELU = (
    -5.408237158193125e-08, 2.7289674400082396e-06, -4.662066583904842e-05, -6.03019476023072e-05,
    0.03636922728056049, 0.797871151973733,
)  # fmt: skip
_GELU_LIMIT = 30.25


def _gelu_lines(call: Any) -> list[str]:
    x = call.inputs[0]
    first, square = call.temporary("square")
    second, value = call.temporary("value")
    add, multiply, tanh = call.function("add"), call.function("multiply"), call.function("tanh")
    lines = [
        *first,
        *second,
        f"{multiply}({x}, {x}, {square})",
        f"{call.function('minimum')}({square}, {call.filled('limits', _GELU_LIMIT)}, out={square})",
        f"{multiply}({square}, {call.scalar('c', _GELU[0])}, {value})",
    ]
    for coefficient in _GELU[1:-1]:
        lines.append(f"{add}({value}, {call.scalar('c', coefficient)}, {value})")
        lines.append(f"{multiply}({value}, {square}, {value})")
    return [
        *lines,
        f"{add}({value}, {call.scalar('c', _GELU[-1])}, {value})",
        f"{multiply}({value}, {x}, {value})",
        f"{tanh}({value}, {value})",
        f"{add}({value}, {call.scalar('one', 1.0)}, {value})",
        f"{multiply}({value}, {call.scalar('half', 0.5)}, {value})",
        f"{call.out} = {multiply}({value}, {x}{call.into()})",
    ]


def _template_lines(call: Any) -> list[str]:
    if call.attrs.act_type == "gelu" and not call.exact and call.out_dtype == "float32":
        return _gelu_lines(call)
    return [call.assign(f"{call.kernel()}({call.inputs[0]}, train=False, rng=None)")]  # these kinds draw nothing


_KINDS = ("elu", "gelu", "leaky", "prelu", "rrelu", "selu")
_TRAILING = (Attr("slope", "float", 0.25), Attr("lower_bound", "float", 0.125), Attr("upper_bound", "float", 0.334))

OPERATORS = (
    OpDef(
        "LeakyReLU",
        _kernel,
        inputs=("data", "gamma"),
        attrs=(Attr("act_type", "enum", "leaky", _KINDS), *_TRAILING),
        active_inputs=_inputs,
        variable_init={"gamma": '["Constant", {"value": 0.25}]'},
        outputs=_outputs,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        aliases=("_npx_leaky_relu",),
        random=True,
        train_dependent=True,
        fast=Elementwise(_template_lines, _has_template),
        doc="""Rectifiers by name, positive values unchanged (but for selu and gelu): leaky (slope * x), prelu
        (gamma * x, gamma of shape (channels,) along axis 1 or (1,)), elu (slope * (exp(x) - 1)), selu, gelu
        (x times the normal distribution function), rrelu (a slope drawn from [lower_bound, upper_bound), in
        predict mode their mean; also returns the factors).""",
        samples=(
            *[Sample(((3, 5),), {"act_type": kind}, low=-2, high=2) for kind in _KINDS if kind != "prelu"],
            Sample(((3, 4, 2), (4,)), {"act_type": "prelu"}),
            Sample(((3, 4), (1,)), {"act_type": "prelu"}),
            Sample(((5,), (5,)), {"act_type": "prelu"}),
            Sample(((3, 4, 2), (3, 4)), {"act_type": "prelu"}),
            Sample(((3, 4, 2), (3,)), {"act_type": "prelu"}),
            Sample(((1,),), {"slope": 0.1}),
            Sample(((0, 3),)),
            Sample(((3, 4), (5,)), {"act_type": "prelu"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_prelu",
        _prelu_backward,
        inputs=("head", "data", "gamma"),
        outputs=("data", "gamma"),
        infer_shape=_prelu_backward_shape,
        infer_dtype=lambda attrs, ins, outs: (ins, [ins[1], ins[2]]),
        grad=_prelu_backward_grad,
        doc="The gradients of prelu for data and gamma.",
        samples=(Sample(((3, 4, 2), (3, 4, 2), (4,))), Sample(((3, 4), (3, 4), (1,)))),
    ),
)
