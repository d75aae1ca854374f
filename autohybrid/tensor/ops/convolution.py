"""Convolution over one, two or three spatial axes, with groups and dilation, and its derivatives of every order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.convolution import (
    Workspace,
    convolve,
    is_blockwise,
    scratch_elements,
    to_data,
    to_weight,
    workspace,
)
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.pieces import Pieces
from autohybrid.tensor.shapes import same_floating, unify
from autohybrid.tensor.templates import is_simple
from autohybrid.tensor.windows import Window, make_window

GEOMETRY = (
    Attr("kernel", "shape"),
    Attr("stride", "shape", ()),
    Attr("dilate", "shape", ()),
    Attr("pad", "shape", ()),
)
_TAIL = (
    Attr("num_filter", "int"),
    Attr("num_group", "int", 1),
    Attr("workspace", "int", 1024),
    Attr("no_bias", "bool", False),
    Attr("cudnn_tune", "enum?", None, ("fastest", "limited_workspace", "off")),
    Attr("cudnn_off", "bool", False),
)
_LAYOUTS = ("NCW", "NCHW", "NCDHW", "NHWC", "NDHWC")
ATTRS = (*GEOMETRY, *_TAIL, Attr("layout", "enum?", None, _LAYOUTS))
PRIVATE_ATTRS = (*GEOMETRY, Attr("num_group", "int", 1))


def window_of(attrs: Attrs) -> Window:
    """The window these attributes describe. Raises MXNetError for inconsistent ones."""
    rank = len(attrs.kernel)
    if rank not in (1, 2, 3):
        raise MXNetError(f"`kernel` must have 1, 2 or 3 entries, got {attrs.kernel}")
    return make_window(rank, attrs.kernel, attrs.stride, attrs.dilate, attrs.pad)


def geometry(attrs: Attrs) -> dict[str, Any]:
    """The attributes that the private operators need."""
    return {name: getattr(attrs, name) for name in ("kernel", "stride", "dilate", "pad", "num_group")}


def check_layout(attrs: Attrs, rank: int) -> bool:
    """Whether the channels are the last axis. Raises MXNetError for a layout of another rank."""
    if attrs.layout is None:
        return False
    if len(attrs.layout) != rank + 2:
        raise MXNetError(f"layout {attrs.layout} does not fit a `kernel` of {rank} entries")
    return bool(attrs.layout.endswith("C"))


def channels_first(shape: Shape, last: bool) -> Shape:
    """A shape (n, ..., c) as (n, c, ...) where `last`."""
    return shape if shape is None or not last else (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Shape, last: bool) -> Shape:
    """The inverse of `channels_first`."""
    return shape if shape is None or not last else (shape[0], *shape[2:], shape[1])


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weight") if attrs.no_bias else ("data", "weight", "bias")


def infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    window, filters, groups = window_of(attrs), attrs.num_filter, attrs.num_group
    rank = len(window.kernel)
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
    weight = unify(
        channels_first(ins[1], last), (filters, -1 if channels == -1 else channels // groups, *window.kernel)
    )
    assert weight is not None
    if channels == -1 and weight[1] != -1:
        data = (data[0], weight[1] * groups, *data[2:])
    output = unify(output, (data[0], filters, *window.output_extents(data[2:])))
    assert output is not None
    data = (output[0], data[1], *_spatial_from_output(window, data[2:], output[2:]))
    known = [channels_last(data, last), channels_last(weight, last)]
    return known if attrs.no_bias else [*known, unify(ins[2], (filters,))], [channels_last(output, last)]


def _spatial_from_output(window: Window, spatial: tuple[int, ...], positions: tuple[int, ...]) -> tuple[int, ...]:
    """Unknown extents of the data that a stride of 1 lets one compute from the output."""
    found = window.input_extents(positions)
    return tuple(f if n == -1 and s == 1 else n for n, f, s in zip(spatial, found, window.stride))


def refuse_channels_last(attrs: Attrs) -> None:
    """Raise MXNetError for data whose channels are the last axis."""
    if attrs.layout is not None and attrs.layout.endswith("C"):
        channels = f"NC{attrs.layout[1:-1]}"
        raise MXNetError(
            f"layout {attrs.layout} is not computed; use {channels}: transpose data and weight so that the channels "
            "are axis 1"
        )


def _kernel(xp: Any, attrs: Attrs, data: Any, weight: Any, bias: Any = None) -> Any:
    refuse_channels_last(attrs)
    result = convolve(xp, data, weight, window_of(attrs), attrs.num_group)
    if bias is not None:
        result += bias.reshape(-1, *[1] * len(attrs.kernel))
    return result


def _fast(call: Any) -> list[str] | None:
    """The kernel with memory for its result and its work from the plan of the graph."""
    attrs, shapes = call.attrs, call.shapes
    if not is_simple(call) or check_layout(attrs, len(attrs.kernel)) or 0 in call.out_shape or 0 in shapes[0]:
        return None
    window = window_of(attrs)
    if not is_blockwise(shapes[0], shapes[1], window, attrs.num_group):
        run, work = call.bound("convolve", convolve), _work(call, shapes[0], shapes[1])
        arguments = f"{call.inputs[0]}, {call.inputs[1]}, {call.constant('window', window)}, {attrs.num_group}"
        return [f"{call.out} = {run}({arguments}, {call.memory()}, None, {work})", *_bias_lines(call)]
    wanted = zip(("padded", "columns"), workspace(shapes[0], shapes[1], window, attrs.num_group))
    arrays = ", ".join("None" if shape is None else call.scratch(hint, shape) for hint, shape in wanted)
    run, memory = call.bound("convolve", convolve), call.constant("Workspace", Workspace)
    arguments = f"{call.inputs[0]}, {call.inputs[1]}, {call.constant('window', window)}, {attrs.num_group}"
    return [f"{call.out} = {run}({arguments}, {call.memory()}, {memory}({arrays}))", *_bias_lines(call)]


def _bias_lines(call: Any) -> list[str]:
    if call.attrs.no_bias:
        return []
    bias = f"{call.inputs[2]}.reshape({(-1, *[1] * len(call.attrs.kernel))})"
    return [f"{call.function('add')}({call.out}, {bias}, {call.out})"]


def _work(call: Any, data: tuple[int, ...], weight: tuple[int, ...]) -> str:
    """What makes the arrays for the work of one call, in memory from the plan of the graph."""
    size = scratch_elements(data, weight, window_of(call.attrs), call.attrs.num_group)
    if not size:
        return "None"
    return f"{call.constant('Pieces', Pieces)}({call.scratch('work', (size,))}, {call.function('empty')})"


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, weight), head, shared = node.inputs[:2], heads[0], geometry(node.attrs)
    gradients = [
        F._backward_conv_data(head, weight, data, **shared) if node.needs(0) else None,
        F._backward_conv_weight(head, data, weight, **shared) if node.needs(1) else None,
    ]
    return gradients if node.attrs.no_bias else [*gradients, F.sum(head, axis=1, exclude=True)]


def _plain_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    data, weight = ins
    if data is None or weight is None:
        return ins, outs
    return ins, [unify((data[0], weight[0], *window_of(attrs).output_extents(data[2:])), outs[0])]


def _third_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    like = unify(ins[2], outs[0])
    return [ins[0], ins[1], like], [like]


def _plain_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (data, weight), head, shared = node.inputs, heads[0], geometry(node.attrs)
    return [F._backward_conv_data(head, weight, data, **shared), F._backward_conv_weight(head, data, weight, **shared)]


def _data_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, weight, _), g, shared = node.inputs, heads[0], geometry(node.attrs)
    return [F._conv(g, weight, **shared), F._backward_conv_weight(head, g, weight, **shared), None]


def _weight_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, data, _), g, shared = node.inputs, heads[0], geometry(node.attrs)
    return [F._conv(data, g, **shared), F._backward_conv_data(head, g, data, **shared), None]


def _fast_backward(function: Any) -> Any:
    """The template of an adjoint: its kernel with memory for the result and for its work from the plan of the graph."""

    def lines(call: Any) -> list[str] | None:
        if not is_simple(call) or any(0 in shape for shape in (call.out_shape, *call.shapes)):
            return None
        attrs, window = call.attrs, window_of(call.attrs)
        data, weight = (2, 1) if function is to_data else (1, 2)
        pieces = _work(call, call.shapes[data], call.shapes[weight])
        shape = call.out_shape[2:] if function is to_data else call.out_shape
        arguments = f"{call.inputs[0]}, {call.inputs[1]}, {call.constant('window', window)}, {attrs.num_group}, {shape}"
        run = call.bound(function.__name__, function)
        return [f"{call.out} = {run}({arguments}, {call.memory()}, {pieces})"]

    return lines


_SAMPLES = (
    Sample(((2, 4, 5, 6), (6, 4, 3, 3), (6,)), {"kernel": (3, 3), "num_filter": 6}),
    Sample(((1, 1, 1), (1, 1, 1), (1,)), {"kernel": 1, "num_filter": 1}),
    Sample(
        ((2, 4, 5, 7), (6, 2, 3, 2)),
        {
            "kernel": (3, 2),
            "num_filter": 6,
            "num_group": 2,
            "stride": (2, 1),
            "pad": (1, 2),
            "dilate": (2, 1),
            "no_bias": True,
        },
    ),
    Sample(
        ((2, 4, 6, 5), (4, 1, 3, 3), (4,)),
        {"kernel": (3, 3), "num_filter": 4, "num_group": 4, "pad": (1, 1), "stride": (2, 2)},
    ),
    Sample(((1, 2, 3, 4, 3), (3, 2, 2, 3, 2), (3,)), {"kernel": (2, 3, 2), "num_filter": 3}),
    Sample(((0, 2, 4), (3, 2, 3), (3,)), {"kernel": 3, "num_filter": 3}),
    Sample(((2, 4, 5, 6), (6, 4, 9, 9), (6,)), {"kernel": (9, 9), "num_filter": 6}, error="MXNetError"),
)
_PRIVATE_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ((2, 4, 5), (6, 2, 3), (2, 6, 3), {"kernel": 3, "stride": 2, "pad": 1, "num_group": 2}),
    ((2, 3, 4, 5), (3, 1, 2, 2), (2, 3, 3, 4), {"kernel": (2, 2), "num_group": 3}),
)


def _flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    weight = ins[1]
    return 0 if weight is None else 2 * math.prod(out) * math.prod(weight[1:])


def _record(name: str, layouts: tuple[str, ...], aliases: tuple[str, ...]) -> OpDef:
    return OpDef(
        name,
        _kernel,
        inputs=("data", "weight", "bias"),
        attrs=(*ATTRS[:-1], Attr("layout", "enum?", None, layouts)),
        active_inputs=_inputs,
        infer_shape=infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        fast=_fast,
        by_rows=lambda attrs, ins: (0,),
        flops=_flops,
        aliases=aliases,
        doc="""Convolution of data (n, channels, *spatial) with weight (num_filter, channels / num_group, *kernel).

        Over one, two or three spatial axes; each output extent is floor((extent + 2 pad - dilate (kernel - 1) - 1) /
        stride) + 1.""",
        samples=_SAMPLES,
    )


OPERATORS = (
    _record("Convolution", _LAYOUTS, ("_npx_convolution",)),
    _record("Convolution_v1", tuple(layout for layout in _LAYOUTS if layout != "NCW"), ()),
    OpDef(
        "_conv",
        lambda xp, attrs, data, weight: convolve(xp, data, weight, window_of(attrs), attrs.num_group),
        inputs=("data", "weight"),
        attrs=PRIVATE_ATTRS,
        infer_shape=_plain_shape,
        grad=_plain_grad,
        doc="Convolution without bias whose number of filters is that of `weight`.",
        samples=tuple(Sample((x, w), a) for x, w, _, a in _PRIVATE_CASES),
    ),
    OpDef(
        "_backward_conv_data",
        lambda xp, attrs, head, weight, like: to_data(
            xp, head, weight, window_of(attrs), attrs.num_group, like.shape[2:]
        ),
        inputs=("head", "weight", "data"),
        attrs=PRIVATE_ATTRS,
        infer_shape=_third_shape,
        grad=_data_grad,
        fast=_fast_backward(to_data),
        doc="The gradient of a convolution with respect to its data (of which only the shape matters).",
        samples=tuple(Sample((h, w, x), a) for x, w, h, a in _PRIVATE_CASES),
    ),
    OpDef(
        "_backward_conv_weight",
        lambda xp, attrs, head, data, like: to_weight(xp, head, data, window_of(attrs), attrs.num_group, like.shape),
        inputs=("head", "data", "weight"),
        attrs=PRIVATE_ATTRS,
        infer_shape=_third_shape,
        grad=_weight_grad,
        fast=_fast_backward(to_weight),
        doc="The gradient of a convolution with respect to its weight (of which only the shape matters).",
        samples=tuple(Sample((h, x, w), a) for x, w, h, a in _PRIVATE_CASES),
    ),
)
