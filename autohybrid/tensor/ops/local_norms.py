"""L2Normalization and LRN: normalisation without parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating, unify

_MODE = (Attr("eps", "float", 1e-10), Attr("mode", "enum", "instance", ("channel", "instance", "spatial")))


def _l2_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    least = {"instance": 2, "channel": 3, "spatial": 3}[attrs.mode]
    if data is not None and len(data) < least:
        raise MXNetError(f"mode '{attrs.mode}' needs at least {least} dimensions, got {data}")
    return [data], [data]


def _over(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    return {"instance": tuple(range(1, ndim)), "channel": (1,), "spatial": tuple(range(2, ndim))}[attrs.mode]


def _l2(xp: Any, attrs: Attrs, data: Any) -> Any:
    (x,) = widen(xp, data)
    total = (x * x).sum(axis=_over(attrs, x.ndim), keepdims=True)
    total += x.dtype.type(attrs.eps)
    return narrow(x / xp.sqrt(total, out=total), data)


def _l2_backward(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    h, x = widen(xp, head, data)
    axes = _over(attrs, x.ndim)
    factor = 1 / xp.sqrt((x * x).sum(axis=axes, keepdims=True) + x.dtype.type(attrs.eps))
    unit = x * factor
    along = (h * unit).sum(axis=axes, keepdims=True)
    unit *= along
    return narrow((h - unit) * factor, head)


def _l2_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_L2Normalization(heads[0], node.inputs[0], eps=node.attrs.eps, mode=node.attrs.mode)


def _l2_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    # With y = r x, r = 1 / |x|: backward is r (h - y <h,y>), self-adjoint in h. Its derivative in x, applied to g, is
    # -r^2 (y <g,h> - 3 y <g,y><h,y> + g <h,y> + h <g,y>).
    (head, data), g, attrs = node.inputs, heads[0], node.attrs
    axes: Any = {"instance": 0, "channel": 1, "spatial": (0, 1)}[attrs.mode]
    over = {"axis": axes, "exclude": attrs.mode != "channel", "keepdims": True}
    multiply = F.broadcast_mul

    def dot(a: Any, b: Any) -> Any:
        return F.sum(a * b, **over)

    factor = F.rsqrt(dot(data, data) + attrs.eps)
    unit = multiply(data, factor)
    along_g, along_h = dot(g, unit), dot(head, unit)
    straight = multiply(unit, dot(g, head) - 3 * (along_g * along_h))
    to_data = multiply(straight + multiply(g, along_h) + multiply(head, along_g), -(factor * factor))
    to_head = F._backward_L2Normalization(g, data, eps=attrs.eps, mode=attrs.mode)
    return [to_head, to_data]


def _lrn_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data = unify(ins[0], outs[0])
    if data is not None and len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    if attrs.nsize % 2 == 0:
        raise MXNetError(
            f"`nsize` counts the channels of a window around each channel and must be odd, got {attrs.nsize}"
        )
    return [data], [data]


def _channel_sums(xp: Any, size: int, x: Any) -> Any:
    """Sums over windows of `size` channels around each channel."""
    reach = size // 2
    result = x.copy()
    for step in range(1, min(reach + 1, x.shape[1])):
        result[:, step:] += x[:, :-step]
        result[:, :-step] += x[:, step:]
    return result


def _lrn(xp: Any, attrs: Attrs, data: Any) -> Any:
    (x,) = widen(xp, data)
    scale = _channel_sums(xp, attrs.nsize, x * x)
    scale *= x.dtype.type(attrs.alpha / attrs.nsize)
    scale += x.dtype.type(attrs.knorm)
    return narrow(x * scale ** x.dtype.type(-attrs.beta), data)


def _lrn_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    (data,), head, attrs = node.inputs, heads[0], node.attrs
    factor = attrs.alpha / attrs.nsize
    scale = F._channel_window_sum(data * data, nsize=attrs.nsize) * factor + attrs.knorm
    power = scale**-attrs.beta
    shared = F._channel_window_sum(head * data * power / scale, nsize=attrs.nsize)
    return head * power - data * shared * (2 * attrs.beta * factor)


_WINDOW = Attr("nsize", "int")

OPERATORS = (
    OpDef(
        "L2Normalization",
        _l2,
        stored_outputs=lambda attrs: 2,
        attrs=_MODE,
        infer_shape=_l2_shape,
        infer_dtype=same_floating,
        grad=_l2_grad,
        doc="""data / sqrt(sum(data ** 2) + eps): the sum over everything but the first axis, over axis 1
        (`mode='channel'`), or over the axes behind the second (`'spatial'`).""",
        samples=(
            *[Sample(((3, 4, 2, 2),), {"mode": mode}) for mode in ("instance", "channel", "spatial")],
            Sample(((3, 4),), {"eps": 0.01}),
            Sample(((1, 1),)),
            Sample(((0, 3),)),
            Sample(((3, 4),), {"mode": "spatial"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_L2Normalization",
        _l2_backward,
        inputs=("head", "data"),
        attrs=_MODE,
        grad=_l2_backward_grad,
        doc="The gradient of L2Normalization.",
        samples=(Sample(((3, 4, 2), (3, 4, 2)), {"mode": "channel", "eps": 0.01}),),
    ),
    OpDef(
        "LRN",
        _lrn,
        stored_outputs=lambda attrs: 2,
        attrs=(Attr("alpha", "float", 1e-4), Attr("beta", "float", 0.75), Attr("knorm", "float", 2.0), _WINDOW),
        infer_shape=_lrn_shape,
        infer_dtype=same_floating,
        grad=_lrn_grad,
        by_rows=lambda attrs, ins: (0,),
        doc="""data / (knorm + alpha / nsize * s) ** beta, s the sum of squares over the `nsize` channels around
        each one.""",
        samples=(
            Sample(((2, 6, 3, 2),), {"nsize": 3, "alpha": 0.5}),
            Sample(((1, 1, 1, 1),), {"nsize": 1}),
            Sample(((2, 3, 2, 1),), {"nsize": 9, "alpha": 0.1, "knorm": 1.0, "beta": 0.5}),
            Sample(((0, 3, 2, 2),), {"nsize": 3}),
            Sample(((2, 6, 3),), {"nsize": 3}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_channel_window_sum",
        lambda xp, attrs, data: _channel_sums(xp, attrs.nsize, data),
        attrs=(_WINDOW,),
        grad=lambda F, node, heads: F._channel_window_sum(heads[0], nsize=node.attrs.nsize),
        doc="Sums over windows of `nsize` (odd) channels around each channel; its own adjoint.",
        samples=(Sample(((2, 5, 2, 1),), {"nsize": 3}),),
    ),
)
