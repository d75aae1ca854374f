"""Deconvolution (transposed convolution): the adjoint of Convolution in its data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.convolution import convolve, to_data, to_weight
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops.convolution import (
    GEOMETRY,
    channels_first,
    channels_last,
    check_layout,
    refuse_channels_last,
    window_of,
)
from autohybrid.tensor.shapes import same_floating, unify
from autohybrid.tensor.windows import Extents, Window, make_window

_LAYOUTS = ("NCW", "NCHW", "NCDHW", "NHWC", "NDHWC")


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weight") if attrs.no_bias else ("data", "weight", "bias")


def _placement(attrs: Attrs, spatial: Extents | None) -> tuple[Window, Extents]:
    """The window of the convolution this undoes, and `adj`; both follow `target_shape` where one is given."""
    window = window_of(attrs)
    rank = len(window.kernel)
    adj = attrs.adj or (0,) * rank
    if len(adj) != rank:
        raise MXNetError(f"`adj` has {len(adj)} entries, `kernel` has {rank}")
    if attrs.target_shape and any(attrs.target_shape):
        if len(attrs.target_shape) != rank:
            raise MXNetError(f"`target_shape` has {len(attrs.target_shape)} entries, `kernel` has {rank}")
        if spatial is None or -1 in spatial:
            return window, adj
        excess = [
            s * (n - 1) + span - t for s, n, span, t in zip(window.stride, spatial, window.span, attrs.target_shape)
        ]
        if min(excess) < 0:
            raise MXNetError(
                f"`target_shape` {attrs.target_shape} is larger than what data of extents {spatial} can give"
            )
        pad = tuple((e + 1) // 2 for e in excess)
        return make_window(rank, window.kernel, window.stride, window.dilate, pad), tuple(e % 2 for e in excess)
    for axis, (a, stride) in enumerate(zip(adj, window.stride)):
        if a >= stride:
            raise MXNetError(f"`adj` {a} must be less than `stride` {stride} on spatial axis {axis}")
    return window, adj


def _output_extents(attrs: Attrs, spatial: Extents) -> Extents:
    window, adj = _placement(attrs, spatial)
    if attrs.target_shape and any(attrs.target_shape):
        return tuple(attrs.target_shape)
    extents = tuple(-1 if s == -1 else n + a for s, n, a in zip(spatial, window.input_extents(spatial), adj))
    if any(n < 0 for s, n in zip(spatial, extents) if s != -1):
        raise MXNetError(f"`pad` {attrs.pad} leaves less than nothing of the output")
    return extents


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    rank, filters, groups = len(window_of(attrs).kernel), attrs.num_filter, attrs.num_group
    last = check_layout(attrs, rank)
    if filters < 1 or groups < 1 or filters % groups:
        raise MXNetError(f"`num_filter` {filters} must be a positive multiple of `num_group` {groups}")
    data, output = channels_first(ins[0], last), channels_first(outs[0], last)
    if data is None:
        return ins, outs  # nothing follows before the rank of the data is known, as in MXNet
    if len(data) != rank + 2:
        raise MXNetError(f"data must have {rank + 2} dimensions for a `kernel` of {rank} entries, got shape {ins[0]}")
    channels = data[1]
    if channels != -1 and channels % groups:
        raise MXNetError(f"the {channels} channels of data are not a multiple of `num_group` {groups}")
    weight = unify(channels_first(ins[1], last), (channels, filters // groups, *attrs.kernel))
    assert weight is not None
    data = (data[0], weight[0], *data[2:])
    output = unify(output, (data[0], filters, *_output_extents(attrs, data[2:])))
    assert output is not None
    data = (output[0], *data[1:])
    known = [channels_last(data, last), channels_last(weight, last)]
    return known if attrs.no_bias else [*known, unify(ins[2], (filters,))], [channels_last(output, last)]


def _kernel(xp: Any, attrs: Attrs, data: Any, weight: Any, bias: Any = None) -> Any:
    refuse_channels_last(attrs)
    result = _plain_kernel(xp, attrs, data, weight)
    if bias is not None:
        result += bias.reshape(-1, *[1] * len(attrs.kernel))
    return result


def _plain_kernel(xp: Any, attrs: Attrs, data: Any, weight: Any) -> Any:
    spatial = data.shape[2:]
    window, _ = _placement(attrs, spatial)
    return to_data(xp, data, weight, window, attrs.num_group, _output_extents(attrs, spatial))


def _plain_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, weight = ins
    if data is None or weight is None:
        return ins, outs
    filters = -1 if weight[1] == -1 else weight[1] * attrs.num_group
    return ins, [unify((data[0], filters, *_output_extents(attrs, data[2:])), outs[0])]


def _third_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    like = unify(ins[2], outs[0])
    return [ins[0], ins[1], like], [like]


def _data_kernel(xp: Any, attrs: Attrs, head: Any, weight: Any, like: Any) -> Any:
    window, _ = _placement(attrs, like.shape[2:])
    return convolve(xp, head, weight, window, attrs.num_group)


def _weight_kernel(xp: Any, attrs: Attrs, head: Any, data: Any, like: Any) -> Any:
    window, _ = _placement(attrs, data.shape[2:])
    return to_weight(xp, data, head, window, attrs.num_group, like.shape)


def _shared(attrs: Attrs) -> dict[str, Any]:
    return {attr.name: getattr(attrs, attr.name) for attr in _PRIVATE}


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, weight), head, shared = node.inputs[:2], heads[0], _shared(node.attrs)
    gradients = [
        F._backward_deconv_data(head, weight, data, **shared) if node.needs(0) else None,
        F._backward_deconv_weight(head, data, weight, **shared) if node.needs(1) else None,
    ]
    return [*gradients, F.sum(head, axis=1, exclude=True)] if len(node.inputs) > 2 else gradients


def _data_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, weight, _), g, shared = node.inputs, heads[0], _shared(node.attrs)
    return [F._deconv(g, weight, **shared), F._backward_deconv_weight(head, g, weight, **shared), None]


def _weight_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, data, _), g, shared = node.inputs, heads[0], _shared(node.attrs)
    return [F._deconv(data, g, **shared), F._backward_deconv_data(head, g, data, **shared), None]


def _flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    data, weight = ins[:2]
    return 0 if data is None or weight is None else 2 * math.prod(data) * math.prod(weight[1:])


_PRIVATE = (*GEOMETRY, Attr("adj", "shape", ()), Attr("target_shape", "shape", ()), Attr("num_group", "int", 1))
_CASE = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0), "adj": (1, 0), "num_group": 2}
_TARGET = {"kernel": 3, "stride": 2, "target_shape": 6}

OPERATORS = (
    OpDef(
        "Deconvolution",
        _kernel,
        inputs=("data", "weight", "bias"),
        attrs=(
            *_PRIVATE[:-1],
            Attr("num_filter", "int"),
            Attr("num_group", "int", 1),
            Attr("workspace", "int", 512),
            Attr("no_bias", "bool", True),
            Attr("cudnn_tune", "enum?", None, ("fastest", "limited_workspace", "off")),
            Attr("cudnn_off", "bool", False),
            Attr("layout", "enum?", None, _LAYOUTS),
        ),
        active_inputs=_inputs,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        flops=_flops,
        aliases=("_npx_deconvolution",),
        doc="""Transposed convolution of data (n, channels, *spatial) with weight (channels, num_filter /
        num_group, *kernel).

        Each output extent is stride (extent - 1) + dilate (kernel - 1) + 1 - 2 pad + adj, or what
        `target_shape` says.""",
        samples=(
            Sample(((2, 4, 3, 3), (4, 6, 3, 3)), {"kernel": (3, 3), "num_filter": 6}),
            Sample(((1, 1, 1), (1, 1, 1), (1,)), {"kernel": 1, "num_filter": 1, "no_bias": False}),
            Sample(((2, 4, 3, 3), (4, 3, 3, 2), (6,)), {**_CASE, "num_filter": 6, "no_bias": False}),
            Sample(((2, 2, 3), (2, 4, 3)), {**_TARGET, "num_filter": 4}),
            Sample(((2, 2, 3), (2, 4, 3)), {"kernel": 3, "dilate": 2, "num_filter": 4}),
            Sample(((0, 2, 3), (2, 4, 3)), {"kernel": 3, "num_filter": 4}),
            Sample(((2, 2, 2), (2, 4, 3)), {"kernel": 3, "num_filter": 4, "pad": 2}),
            Sample(((2, 4, 3), (4, 6, 3)), {"kernel": 3, "num_filter": 6, "stride": 2, "adj": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_deconv",
        _plain_kernel,
        inputs=("data", "weight"),
        attrs=_PRIVATE,
        infer_shape=_plain_shape,
        grad=_grad,
        doc="Deconvolution without bias whose number of filters is that of `weight`.",
        samples=(Sample(((2, 4, 3, 3), (4, 3, 3, 2)), _CASE), Sample(((2, 2, 3), (2, 4, 3)), _TARGET)),
    ),
    OpDef(
        "_backward_deconv_data",
        _data_kernel,
        inputs=("head", "weight", "data"),
        attrs=_PRIVATE,
        infer_shape=_third_shape,
        grad=_data_grad,
        doc="The gradient of Deconvolution with respect to its data (of which only the shape matters).",
        samples=(Sample(((2, 6, 6, 4), (4, 3, 3, 2), (2, 4, 3, 3)), _CASE),),
    ),
    OpDef(
        "_backward_deconv_weight",
        _weight_kernel,
        inputs=("head", "data", "weight"),
        attrs=_PRIVATE,
        infer_shape=_third_shape,
        grad=_weight_grad,
        doc="The gradient of Deconvolution with respect to its weight (of which only the shape matters).",
        samples=(Sample(((2, 6, 6, 4), (2, 4, 3, 3), (4, 3, 3, 2)), _CASE),),
    ),
)
