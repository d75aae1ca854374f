"""softmax, log_softmax, softmin and SoftmaxActivation, with lengths, temperature and output dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor import rows
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import normalize_axis, require_floating, same_floating, unify, unify_dtypes
from autohybrid.tensor.templates import Elementwise, is_simple

_AXIS = Attr("axis", "int", -1)
_TEMPERATURE = Attr("temperature", "float?", None)
_ATTRS = (
    _AXIS,
    _TEMPERATURE,
    Attr("dtype", "enum?", None, ("float16", "float32", "float64")),
    Attr("use_length", "bool?", False),
)


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "length") if attrs.use_length else ("data",)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(data))
    known: list[Shape] = [data]
    if len(ins) > 1:
        known.append(unify(ins[1], data[:axis] + data[axis + 1 :]))
    return known, [data]


def _infer_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Sequence[str | None], Sequence[str | None]]:
    length = ins[1:]
    if attrs.use_length and length[0] is not None and length[0] not in ("int32", "int64"):
        raise MXNetError(f"`length` must be int32 or int64, got {length[0]}; convert it with `astype('int32')`")
    if attrs.dtype is not None:
        require_floating(ins[0])
        return ins, [attrs.dtype]
    data = require_floating(unify_dtypes([ins[0], outs[0]]))
    return [data, *length], [data]


#: Rows are worked on in blocks of this many elements, which stay in the cache of a core between the passes.
_BLOCK_ELEMENTS = 1 << 18


def _blocks(attrs: Attrs, data: Any) -> list[Any]:
    """Subscripts of the leading axes that cut large data into blocks of whole rows."""
    if data.size < 2 * _BLOCK_ELEMENTS or data.ndim < 2 or attrs.axis % data.ndim == 0:
        return [slice(None)]
    step = max(1, _BLOCK_ELEMENTS * data.shape[0] // data.size)
    return [slice(start, start + step) for start in range(0, data.shape[0], step)]


def _shifted(xp: Any, attrs: Attrs, data: Any, sign: int) -> Any:
    """A fresh array with `sign * data / temperature`, its maximum along the axis taken off."""
    if data.dtype.char == "e":
        data = data.astype(xp.float32)
    if sign < 0:
        result = data.min(axis=attrs.axis, keepdims=True) - data
    else:
        result = data - data.max(axis=attrs.axis, keepdims=True)
    if attrs.temperature is not None and attrs.temperature != 1:
        result /= data.dtype.type(attrs.temperature)
    return result


def _in_blocks(xp: Any, attrs: Attrs, data: Any, compute: Any) -> Any:
    """`compute(block)` of all blocks of `data`, in the dtype of the output."""
    dtype = attrs.dtype or data.dtype
    if not data.size:
        return xp.zeros(data.shape, dtype=dtype)
    blocks = _blocks(attrs, data)
    if len(blocks) == 1:
        return compute(data).astype(dtype, copy=False)
    result = xp.empty(data.shape, dtype=dtype)
    for block in blocks:
        result[block] = compute(data[block])
    return result


def _normalized(xp: Any, attrs: Attrs, data: Any, length: Any, sign: int) -> Any:
    if length is not None and data.size:
        return _masked(xp, attrs, data, length, sign)

    def compute(block: Any) -> Any:
        result = _shifted(xp, attrs, block, sign)
        xp.exp(result, out=result)
        result /= result.sum(axis=attrs.axis, keepdims=True)
        return result

    return _in_blocks(xp, attrs, data, compute)


def _masked(xp: Any, attrs: Attrs, data: Any, length: Any, sign: int) -> Any:
    """softmax of the positions before each length; 0 behind."""
    mask = _within(xp, attrs.axis, data, length)
    result = _shifted(xp, attrs, xp.where(mask, data, data.dtype.type(-sign * xp.inf)), sign)
    xp.exp(result, out=result)
    result = xp.where(mask, result, result.dtype.type(0))  # a row of length 0 has no maximum
    total = result.sum(axis=attrs.axis, keepdims=True)
    total[total == 0] = 1
    result /= total
    return result.astype(attrs.dtype or data.dtype, copy=False)


def _within(xp: Any, axis: int, data: Any, length: Any) -> Any:
    """A mask, broadcastable to `data`, of the positions along `axis` before each length."""
    axis = axis % data.ndim
    steps = xp.arange(data.shape[axis]).reshape(-1, *[1] * (data.ndim - 1 - axis))
    return steps < xp.expand_dims(length, axis)


def _softmax(xp: Any, attrs: Attrs, data: Any, length: Any = None) -> Any:
    return _normalized(xp, attrs, data, length, 1)


def _has_template(call: Any) -> bool:
    attrs, axes = call.attrs, len(call.out_shape)
    plain = not attrs.use_length and attrs.temperature in (None, 1.0) and attrs.axis % max(axes, 1) == axes - 1
    return not call.exact and is_simple(call) and plain and 0 not in call.out_shape


def _template_lines(call: Any) -> list[str]:
    function, ones = call.bound("softmax", rows.softmax), call.column("ones", call.out_shape[-1], 1.0)
    return [*call.target(), f"{function}({ones}, {call.inputs[0]}, {call.out})"]


def _softmin(xp: Any, attrs: Attrs, data: Any, length: Any = None) -> Any:
    return _normalized(xp, attrs, data, length, -1)


def _log_softmax(xp: Any, attrs: Attrs, data: Any) -> Any:
    def compute(block: Any) -> Any:
        result = _shifted(xp, attrs, block, 1)
        total = xp.exp(result).sum(axis=attrs.axis, keepdims=True)
        result -= xp.log(total, out=total)
        return result

    return _in_blocks(xp, attrs, data, compute)


def _scaled(attrs: Attrs, result: Any, head: Any) -> Any:
    if attrs.temperature is not None and attrs.temperature != 1:
        result /= result.dtype.type(attrs.temperature)
    return narrow(result, head)


def _softmax_backward(xp: Any, attrs: Attrs, head: Any, output: Any) -> Any:
    h, y = widen(xp, head, output)
    result = h * y
    total = result.sum(axis=attrs.axis, keepdims=True)
    result -= y * total
    return _scaled(attrs, result, head)


def _log_softmax_backward(xp: Any, attrs: Attrs, head: Any, output: Any) -> Any:
    h, y = widen(xp, head, output)
    result = xp.exp(y)
    result *= -h.sum(axis=attrs.axis, keepdims=True)
    result += h
    return _scaled(attrs, result, head)


def _along(attrs: Attrs) -> dict[str, Any]:
    return {"axis": attrs.axis, "temperature": attrs.temperature}


def _in_dtype_of_data(F: Any, node: GradNode, gradient: Any) -> Any:
    """Where the output has a dtype of its own, the gradient goes back in that of the data."""
    return gradient if node.attrs.dtype is None else F._cast_as(gradient, node.inputs[0])


def _softmax_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F._backward_softmax(heads[0], node.outputs[0], **_along(node.attrs))
    return [_in_dtype_of_data(F, node, gradient)] + [None] * (len(node.inputs) - 1)


def _softmin_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F._backward_softmax(-heads[0], node.outputs[0], **_along(node.attrs))
    return [_in_dtype_of_data(F, node, gradient)] + [None] * (len(node.inputs) - 1)


def _log_softmax_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    gradient = F._backward_log_softmax(heads[0], node.outputs[0], **_along(node.attrs))
    return _in_dtype_of_data(F, node, gradient)


def _softmax_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # b = y (h - <h, y>) / T is linear and self-adjoint in h; db/dy applied to g: (g (h - <h,y>) - h <g,y>) / T
    (head, output), g, attrs = node.inputs, heads[0], node.attrs
    keep = {"axis": attrs.axis, "keepdims": True}
    first = g * F.broadcast_sub(head, F.sum(head * output, **keep))
    second = F.broadcast_mul(head, F.sum(g * output, **keep))
    to_output = (first - second) / (attrs.temperature or 1.0)
    return [F._backward_softmax(g, output, **_along(attrs)), to_output]


def _log_softmax_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # b = (h - exp(y) sum(h)) / T
    (head, output), g, attrs = node.inputs, heads[0], node.attrs
    keep = {"axis": attrs.axis, "keepdims": True}
    weighted = g * F.exp(output)
    to_head = F.broadcast_sub(g, F.sum(weighted, **keep)) / (attrs.temperature or 1.0)
    to_output = F.broadcast_mul(weighted, F.sum(head, **keep)) / -(attrs.temperature or 1.0)
    return [to_head, to_output]


def _activation_axis(attrs: Attrs) -> int:
    return 1 if attrs.mode == "channel" else -1


def _softmax_activation(xp: Any, attrs: Attrs, data: Any) -> Any:
    return _softmax(xp, _SOFTMAX.parse({"axis": _activation_axis(attrs)}), data)


def _softmax_activation_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_softmax(heads[0], node.outputs[0], axis=_activation_axis(node.attrs))


def _activation_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is not None and attrs.mode == "channel" and len(data) < 3:
        raise MXNetError(f"mode 'channel' needs at least 3 dimensions (n, channel, ...), got {data}")
    return [data], [data]


def _cut_rows(attrs: Attrs, ins: Shapes) -> tuple[int, ...]:
    return (0,) if len(ins) == 1 and ins[0] is not None and attrs.axis % len(ins[0]) else ()


_SHAPES = (
    Sample(((2, 3, 5),)),
    Sample(((1, 1),)),
    Sample(((2, 3, 5),), {"axis": 1, "temperature": 2.0}),
    Sample(((2, 3, 5),), {"axis": -3}),
    Sample(((0, 3),)),
    Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
)
_LENGTHS = (
    Sample(((3, 4), (3,)), {"use_length": True}, dtypes=("float32", "int32"), values={1: [0, 2, 4]}, nograd=(1,)),
    Sample(
        ((2, 4, 3), (2, 3)), {"use_length": True, "axis": 1}, dtypes=("float32", "int64"), low=1, high=5, nograd=(1,)
    ),
)
_BACKWARD_SAMPLES = (Sample(((2, 3, 5), (2, 3, 5)), {"axis": 1, "temperature": 2.0}), Sample(((4,), (4,))))

_SOFTMAX = OpDef(
    "softmax",
    _softmax,
    inputs=("data", "length"),
    attrs=_ATTRS,
    active_inputs=_inputs,
    infer_shape=_infer_shape,
    infer_dtype=_infer_dtype,
    grad=_softmax_grad,
    aliases=("_npx_softmax",),
    methods=("softmax",),
    by_rows=_cut_rows,
    fast=Elementwise(_template_lines, _has_template, rows=True),
    doc="""exp(data / temperature), normalised along `axis`. With `use_length`, positions at or past `length` (the
    shape of data without `axis`, int32 or int64) are 0.""",
    samples=(*_SHAPES, *_LENGTHS),
)
OPERATORS = (
    _SOFTMAX,
    OpDef(
        "softmin",
        _softmin,
        inputs=("data", "length"),
        attrs=_ATTRS,
        active_inputs=_inputs,
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_softmin_grad,
        methods=("softmin",),
        doc="softmax of `-data`.",
        samples=(*_SHAPES, *_LENGTHS),
    ),
    OpDef(
        "log_softmax",
        _log_softmax,
        attrs=_ATTRS,
        by_rows=_cut_rows,
        infer_shape=_infer_shape,
        infer_dtype=_infer_dtype,
        grad=_log_softmax_grad,
        aliases=("_npx_log_softmax",),
        methods=("log_softmax",),
        doc="The logarithm of softmax along `axis`, computed without overflow.",
        samples=_SHAPES,
    ),
    OpDef(
        "SoftmaxActivation",
        _softmax_activation,
        attrs=(Attr("mode", "enum", "instance", ("channel", "instance")),),
        infer_shape=_activation_shape,
        infer_dtype=same_floating,
        grad=_softmax_activation_grad,
        doc="softmax over the last axis, or over axis 1 with `mode='channel'`. Old; use softmax.",
        samples=(
            Sample(((3, 4),)),
            Sample(((3, 2, 3),)),
            Sample(((2, 3, 2, 2),), {"mode": "channel"}),
            Sample(((3, 4),), {"mode": "channel"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_softmax",
        _softmax_backward,
        inputs=("head", "output"),
        attrs=(_AXIS, _TEMPERATURE),
        grad=_softmax_backward_grad,
        doc="The gradient of softmax from its output.",
        samples=_BACKWARD_SAMPLES,
    ),
    OpDef(
        "_backward_log_softmax",
        _log_softmax_backward,
        inputs=("head", "output"),
        attrs=(_AXIS, _TEMPERATURE),
        grad=_log_softmax_backward_grad,
        doc="The gradient of log_softmax from its output.",
        samples=_BACKWARD_SAMPLES,
    ),
)
