"""SoftmaxOutput, whose backward is that of the cross entropy whatever the head, and softmax_cross_entropy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import require_known, same_floating, unify

_ATTRS = (
    Attr("grad_scale", "float", 1.0),
    Attr("ignore_label", "float", -1.0),
    Attr("multi_output", "bool", False),
    Attr("use_ignore", "bool", False),
    Attr("preserve_shape", "bool", False),
    Attr("normalization", "enum", "null", ("batch", "null", "valid")),
    Attr("out_grad", "bool", False),
    Attr("smooth_alpha", "float", 0.0, low=0, high=1),
)


def _label_shapes(attrs: Attrs, data: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The label shapes that fit, the one that is inferred first."""
    if attrs.multi_output:
        rest = data[2:]
        merged = -1 if -1 in rest else math.prod(rest)
        return [(data[0], merged), (data[0], *rest), (data[0], 1, *rest), data]
    return [data[:-1] if attrs.preserve_shape else data[:1], data]


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, label = unify(ins[0], outs[0]), ins[1]
    if data is None:
        return ins, outs
    if len(data) < 2:
        raise MXNetError(f"data must have at least 2 dimensions, got {data}")
    fitting = _label_shapes(attrs, data)
    if label is None:
        return [data, fitting[0]], [data]
    for shape in fitting:
        if len(shape) == len(label) and all(-1 in (a, b) or a == b for a, b in zip(shape, label)):
            return [data, unify(shape, label)], [data]
    raise MXNetError(
        f"`label` of shape {label} does not fit data of shape {data}; expected {' or '.join(map(str, fitting))}"
    )


def _rows(attrs: Attrs, data: Any) -> Any:
    """`data` as (n, classes, positions)."""
    shape = data.shape
    if attrs.multi_output:
        return data.reshape(shape[0], shape[1], -1 if data.size else 0)
    if attrs.preserve_shape:
        return data.reshape(math.prod(shape[:-1]), shape[-1], 1)
    return data.reshape(shape[0], math.prod(shape[1:]), 1)


def _softmax(xp: Any, x: Any) -> Any:
    result = x - x.max(axis=1, keepdims=True)
    xp.exp(result, out=result)
    result /= result.sum(axis=1, keepdims=True)
    return result


def _kernel(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    if not data.size:
        return xp.zeros_like(data)
    (x,) = widen(xp, _rows(attrs, data))
    return narrow(_softmax(xp, x).reshape(data.shape), data)


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, label), attrs = node.inputs, node.attrs
    settings = {attr.name: getattr(attrs, attr.name) for attr in _ATTRS}
    gradient = F._backward_SoftmaxOutput(data, label, F.BlockGrad(node.outputs[0]), **settings)
    return [gradient * heads[0] if attrs.out_grad else gradient, None]


def _scale(xp: Any, attrs: Attrs, label: Any, data: Any) -> Any:
    """What multiplies (output - target): a number, or an array (n, 1, positions) that is 0 at ignored labels."""
    if label.shape == data.shape:
        return attrs.grad_scale
    rows = _rows(attrs, data)
    kept = label != attrs.ignore_label
    if attrs.normalization == "valid":
        scale = attrs.grad_scale / xp.maximum(kept.sum(), 1)
    else:
        count = (label.shape[0] if attrs.multi_output else label.size) if attrs.normalization == "batch" else 1
        scale = attrs.grad_scale / count / (rows.shape[2] if attrs.multi_output else 1)
    if not attrs.use_ignore:
        return scale
    return kept.reshape(rows.shape[0], 1, rows.shape[2]) * scale


def _target(xp: Any, attrs: Attrs, label: Any, data: Any) -> Any:
    """The distribution that the output is compared with, as (n, classes, positions)."""
    rows = _rows(attrs, data)
    if label.shape == data.shape:
        return _rows(attrs, label)
    classes = rows.shape[1]
    hit = xp.arange(classes).reshape(1, -1, 1) == label.astype(xp.int64).reshape(rows.shape[0], 1, rows.shape[2])
    if attrs.smooth_alpha == 0 or attrs.multi_output:  # MXNet smooths labels along the last axis only
        return hit
    alpha = attrs.smooth_alpha
    return xp.where(hit, 1 - alpha, alpha / max(classes - 1, 1))


def _backward(xp: Any, attrs: Attrs, data: Any, label: Any, output: Any) -> Any:
    if not data.size:
        return xp.zeros_like(data)
    (y,) = widen(xp, _rows(attrs, output))
    result = (y - _target(xp, attrs, label, data)) * _scale(xp, attrs, label, data)
    return result.reshape(data.shape).astype(data.dtype, copy=False)


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # backward is scale(label) * (softmax(data) - target(label)); `output` is softmax(data) once more
    (data, label, _), attrs = node.inputs, node.attrs
    settings = {attr.name: getattr(attrs, attr.name) for attr in _ATTRS}
    scaled = F._softmax_output_scale(heads[0], label, **settings)
    if attrs.multi_output:
        return [F._backward_softmax(scaled, F.softmax(data, axis=1), axis=1), None, None]
    if attrs.preserve_shape:
        return [F._backward_softmax(scaled, F.softmax(data)), None, None]
    flat = F._backward_softmax(F.Flatten(scaled), F.softmax(F.Flatten(data)))
    return [F.reshape_like(flat, data), None, None]


def _scaled(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    result = _rows(attrs, data) * _scale(xp, attrs, label, data)
    return result.reshape(data.shape).astype(data.dtype, copy=False)


def _scaled_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    settings = {attr.name: getattr(node.attrs, attr.name) for attr in _ATTRS}
    return [F._softmax_output_scale(heads[0], node.inputs[1], **settings), None]


def _first(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[0], outs[0])]


def _entropy_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, label = ins
    require_known(("data", "label"), ins)
    assert data is not None
    if len(data) != 2:
        raise MXNetError(f"data must have 2 dimensions (n, classes), got {data}")
    return [data, unify(label, data[:1])], [unify((1,), outs[0])]


def _entropy(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    (x,) = widen(xp, data)
    if not data.size:
        return xp.zeros((1,), dtype=data.dtype)
    shifted = x - x.max(axis=1, keepdims=True)
    total = xp.log(xp.exp(shifted).sum(axis=1))
    chosen = shifted[xp.arange(len(x)), label.astype(xp.int64)]
    return narrow((total - chosen).sum().reshape(1), data)


def _entropy_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.broadcast_mul(F._softmax_minus_one_hot(*node.inputs), heads[0]), None]


def _minus_one_hot(xp: Any, attrs: Attrs, data: Any, label: Any) -> Any:
    (x,) = widen(xp, data)
    if not data.size:
        return xp.zeros_like(data)
    result = _softmax(xp, x)
    result -= xp.arange(x.shape[1]) == label.astype(xp.int64)[:, None]
    return narrow(result, data)


def _minus_one_hot_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._backward_softmax(heads[0], F.softmax(node.inputs[0])), None]


_LABEL: dict[int, Any] = {1: [2, 0, 1, 1]}

OPERATORS = (
    OpDef(
        "SoftmaxOutput",
        _kernel,
        inputs=("data", "label"),
        attrs=_ATTRS,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        aliases=("Softmax",),
        doc="""softmax of data (n, classes); backward gives (output - one_hot(label)) * grad_scale and ignores the
        head.

        `multi_output` takes the classes along axis 1 of (n, classes, ...), `preserve_shape` along the last
        axis. Labels of the shape of data are probabilities. `use_ignore` leaves out `ignore_label`;
        `normalization` divides by the batch or by the labels that count; `out_grad` multiplies by the head
        after all.""",
        samples=(
            Sample(((4, 3), (4,)), values=_LABEL, nograd=(0, 1)),
            Sample(
                ((4, 3), (4,)),
                {"out_grad": True, "use_ignore": True, "ignore_label": 1, "normalization": "valid"},
                values=_LABEL,
                nograd=(0, 1),
            ),
            Sample(((2, 3, 2), (2, 2)), {"multi_output": True}, values={1: [[2, 0], [1, 1]]}, nograd=(0, 1)),
            Sample(((4, 3), (4,)), {"multi_output": True}, values=_LABEL, nograd=(0, 1)),
            Sample(((2, 2, 3), (2, 2)), {"preserve_shape": True}, values={1: [[2, 0], [1, 1]]}, nograd=(0, 1)),
            Sample(((0, 3), (0,)), nograd=(0, 1)),
            Sample(((4, 3), (5,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_SoftmaxOutput",
        _backward,
        inputs=("data", "label", "output"),
        attrs=_ATTRS,
        infer_shape=_first,
        infer_dtype=same_floating,
        grad=_backward_grad,
        doc="The gradient of SoftmaxOutput; `output` is its output, kept to save computing it again.",
        samples=(
            Sample(
                ((4, 3), (4,), (4, 3)), {"smooth_alpha": 0.1, "normalization": "batch"}, values=_LABEL, nograd=(0, 1, 2)
            ),
        ),
    ),
    OpDef(
        "_softmax_output_scale",
        _scaled,
        inputs=("data", "label"),
        attrs=_ATTRS,
        infer_shape=_first,
        infer_dtype=same_floating,
        grad=_scaled_grad,
        doc="`data` times the factor that SoftmaxOutput's backward has for these labels.",
        samples=(
            Sample(
                ((4, 3), (4,)),
                {"use_ignore": True, "ignore_label": 1, "normalization": "valid"},
                values=_LABEL,
                nograd=(1,),
            ),
        ),
    ),
    OpDef(
        "softmax_cross_entropy",
        _entropy,
        inputs=("data", "label"),
        infer_shape=_entropy_shape,
        infer_dtype=same_floating,
        grad=_entropy_grad,
        doc="The sum over rows of -log softmax(data)[label], data (n, classes), label (n,); shape (1,).",
        samples=(
            Sample(((4, 3), (4,)), values=_LABEL, nograd=(1,)),
            Sample(((1, 1), (1,)), values={1: [0]}, nograd=(1,)),
            Sample(((0, 3), (0,)), nograd=(1,)),
            Sample(((4, 3), (5,)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_softmax_minus_one_hot",
        _minus_one_hot,
        inputs=("data", "label"),
        infer_shape=_first,
        infer_dtype=same_floating,
        grad=_minus_one_hot_grad,
        doc="softmax(data) - one_hot(label) for data (n, classes): the gradient of the cross entropy.",
        samples=(Sample(((4, 3), (4,)), values=_LABEL, nograd=(1,)),),
    ),
)
