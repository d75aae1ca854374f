"""BilinearResize2D, AdaptiveAvgPooling2D and UpSampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.convolution import to_data
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.resampling import average_matrix, bilinear_matrix, computing_dtype, resample
from autohybrid.tensor.shapes import require_known, same_floating, unify, unify_dim
from autohybrid.tensor.windows import make_window

_MODES = ("like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up")
_ALIGN = Attr("align_corners", "bool", True)


def _four(data: tuple[int, ...]) -> None:
    if len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")


def _resize_inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "like") if attrs.mode == "like" else ("data",)


def _target(mode: str, size: int, given: int, scale: float | None) -> int:
    if size == -1 and mode not in ("size", "like"):
        return -1
    match mode:
        case "size":
            return given if scale is None else -1 if size == -1 else int(scale * size)
        case "odd_scale":
            if scale is None:
                raise MXNetError("mode 'odd_scale' needs `scale_height` and `scale_width`")
            return int(size * scale) if size % 2 == 0 else int((size - 1) * scale) + 1
        case "to_even_down":
            return size - size % 2
        case "to_even_up":
            return size + size % 2
        case "to_odd_down":
            return size - (1 - size % 2)
        case _:
            return size + (1 - size % 2)


def _resized(attrs: Attrs, data: tuple[int, ...], like: Shape) -> tuple[int, int]:
    if attrs.mode == "like":
        assert like is not None
        return like[2], like[3]
    if attrs.mode == "size" and attrs.scale_height is None:
        return attrs.height, attrs.width  # a `scale_width` alone is not looked at
    if attrs.mode == "size" and attrs.scale_width is None:
        raise MXNetError("`scale_height` needs `scale_width` beside it")
    height = _target(attrs.mode, data[2], attrs.height, attrs.scale_height)
    return height, _target(attrs.mode, data[3], attrs.width, attrs.scale_width)


def _resize_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(_resize_inputs(attrs), ins)
    data, like = ins[0], ins[1] if len(ins) > 1 else None
    assert data is not None
    _four(data)
    if like is not None:
        _four(like)
    height, width = _resized(attrs, data, like)
    if attrs.height < 1 or attrs.width < 1:
        raise MXNetError(f"`height` and `width` must be positive, got {attrs.height} and {attrs.width}")
    return ins, [unify((*data[:2], height, width), outs[0])]


def _resize(xp: Any, attrs: Attrs, data: Any, like: Any = None) -> Any:
    height, width = _resized(attrs, data.shape, None if like is None else like.shape)
    dtype = computing_dtype(xp, data)
    rows = bilinear_matrix(xp, data.shape[2], height, attrs.align_corners, dtype)
    return resample(xp, data, rows, bilinear_matrix(xp, data.shape[3], width, attrs.align_corners, dtype))


def _resize_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    gradient = F._backward_resize(heads[0], node.inputs[0], align_corners=node.attrs.align_corners)
    return [gradient] + [None] * (len(node.inputs) - 1)


def _resize_backward(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    dtype = computing_dtype(xp, head)
    rows = bilinear_matrix(xp, data.shape[2], head.shape[2], attrs.align_corners, dtype)
    columns = bilinear_matrix(xp, data.shape[3], head.shape[3], attrs.align_corners, dtype)
    return resample(xp, head, rows.T, columns.T)


def _resize_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [
        F._contrib_BilinearResize2D(heads[0], node.inputs[0], mode="like", align_corners=node.attrs.align_corners),
        None,
    ]


def _adaptive_size(attrs: Attrs) -> tuple[int, int]:
    size = attrs.output_size
    if len(size) > 2 or any(n < 1 for n in size):
        raise MXNetError(f"`output_size` must be one or two positive numbers, got {size}")
    return (1, 1) if not size else (size[0], size[-1])


def _adaptive_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    size = _adaptive_size(attrs)
    if ins[0] is None:
        return ins, outs
    _four(ins[0])
    return ins, [unify((*ins[0][:2], *size), outs[0])]


def _adaptive(xp: Any, attrs: Attrs, data: Any) -> Any:
    height, width = _adaptive_size(attrs)
    dtype = computing_dtype(xp, data)
    rows = average_matrix(xp, data.shape[2], height, dtype)
    return resample(xp, data, rows, average_matrix(xp, data.shape[3], width, dtype))


def _adaptive_backward(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    dtype = computing_dtype(xp, head)
    rows = average_matrix(xp, data.shape[2], head.shape[2], dtype)
    return resample(xp, head, rows.T, average_matrix(xp, data.shape[3], head.shape[3], dtype).T)


def _adaptive_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_adaptive_pool(heads[0], node.inputs[0], output_size=node.attrs.output_size)


def _adaptive_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._contrib_AdaptiveAvgPooling2D(heads[0], output_size=node.attrs.output_size), None]


def _second(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[1], outs[0])]


# -- UpSampling --------------------------------------------------------------------------------------------------------


def _up_inputs(attrs: Attrs) -> tuple[str, ...]:
    if attrs.sample_type == "bilinear":
        return ("data", "weight")
    return tuple(f"arg{i}" for i in range(attrs.num_args))


def _up_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    scale = attrs.scale
    if scale < 1:
        raise MXNetError(f"`scale` must be positive, got {scale}")
    bilinear = attrs.sample_type == "bilinear"
    require_known(_up_inputs(attrs), ins[:1] if bilinear else ins)
    first = ins[0]
    assert first is not None
    _four(first)
    height, width = (-1 if n == -1 else n * scale for n in first[2:])
    if bilinear:
        if attrs.num_filter != first[1] and first[1] != -1:
            raise MXNetError(f"`num_filter` {attrs.num_filter} must be the number of channels of data, {first[1]}")
        weight = unify(ins[1], (attrs.num_filter, 1, *_bilinear_geometry(attrs)["kernel"]))
        return [first, weight], [unify((*first[:2], height, width), outs[0])]
    channels = first[1]
    for other in ins[1:]:
        assert other is not None
        _four(other)
        for name, extent, n in (("height", height, other[2]), ("width", width, other[3])):
            if -1 not in (extent, n) and (n == 0 or extent % n):
                raise MXNetError(f"the {name} {n} of an input does not divide that of the output, {extent}")
        if attrs.multi_input_mode == "sum":
            channels = unify_dim(channels, other[1], first, other)
        elif -1 in (channels, other[1]):
            channels = -1
        else:
            channels += other[1]
    return ins, [unify((first[0], channels, height, width), outs[0])]


def _up(xp: Any, attrs: Attrs, *inputs: Any) -> Any:
    if attrs.sample_type == "bilinear":
        data, weight = inputs
        geometry = _bilinear_geometry(attrs)
        window = make_window(2, geometry["kernel"], geometry["stride"], (), geometry["pad"])
        return to_data(xp, data, weight, window, attrs.num_filter, tuple(n * attrs.scale for n in data.shape[2:]))
    height = inputs[0].shape[2] * attrs.scale
    parts = [_repeated(x, height // x.shape[2]) for x in inputs]
    if len(parts) == 1:
        return parts[0]
    if attrs.multi_input_mode == "concat":
        return xp.concatenate(parts, axis=1)
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def _bilinear_geometry(attrs: Attrs) -> dict[str, tuple[int, int]]:
    """The deconvolution that bilinear upsampling is."""
    scale = attrs.scale
    size, pad = 2 * scale - scale % 2, scale // 2
    return {"kernel": (size, size), "stride": (scale, scale), "pad": (pad, pad)}


def _repeated(x: Any, scale: int) -> Any:
    return x.repeat(scale, axis=2).repeat(scale, axis=3)


def _up_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs, head = node.attrs, heads[0]
    if attrs.sample_type == "nearest":
        return F._backward_UpSampling(head, *node.inputs, multi_input_mode=attrs.multi_input_mode)
    data, weight = node.inputs
    shared = {**_bilinear_geometry(attrs), "num_group": attrs.num_filter}
    return [
        F._backward_deconv_data(head, weight, data, **shared),
        F._backward_deconv_weight(head, data, weight, **shared),
    ]


def _up_backward(xp: Any, attrs: Attrs, head: Any, *inputs: Any) -> Any:
    (h,) = widen(xp, head)
    gradients, start = [], 0
    for x in inputs:
        part = h
        if attrs.multi_input_mode == "concat":
            part = h[:, start : start + x.shape[1]]
            start += x.shape[1]
        rows, columns = x.shape[2:]
        blocks = part.reshape(*x.shape[:2], rows, h.shape[2] // max(rows, 1), columns, h.shape[3] // max(columns, 1))
        gradients.append(narrow(blocks.sum(axis=(3, 5)), head))
    return tuple(gradients)


def _up_backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(a, b) for a, b in zip(ins[1:], outs)]


def _up_backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    like = F._nearest_like(node.inputs[0], *heads, multi_input_mode=node.attrs.multi_input_mode)
    return [like] + [None] * len(heads)


def _nearest_like(xp: Any, attrs: Attrs, like: Any, *inputs: Any) -> Any:
    parts = [_repeated(x, like.shape[2] // max(x.shape[2], 1)) for x in inputs]
    return xp.concatenate(parts, axis=1) if attrs.multi_input_mode == "concat" else sum(parts[1:], parts[0])


def _nearest_like_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    inputs = node.inputs[1:]
    gradients = F._backward_UpSampling(heads[0], *inputs, multi_input_mode=node.attrs.multi_input_mode)
    return [None, *(gradients if len(inputs) > 1 else [gradients])]


_MULTI = Attr("multi_input_mode", "enum", "concat", ("concat", "sum"))
_UP_SHAPES = ((2, 3, 3, 2), (2, 2, 6, 4))

OPERATORS = (
    OpDef(
        "_contrib_BilinearResize2D",
        _resize,
        inputs=("data", "like"),
        attrs=(
            Attr("height", "int", 1),
            Attr("width", "int", 1),
            Attr("scale_height", "float?", None),
            Attr("scale_width", "float?", None),
            Attr("mode", "enum", "size", _MODES),
            _ALIGN,
        ),
        active_inputs=_resize_inputs,
        infer_shape=_resize_shape,
        infer_dtype=same_floating,
        grad=_resize_grad,
        doc="""Bilinear interpolation of data (n, channels, height, width) to `height` x `width`, to a multiple
        (`scale_*`), to the size of `like`, or to an even or odd size near its own, as `mode` says.""",
        samples=(
            Sample(((2, 2, 4, 3),), {"height": 6, "width": 5}),
            Sample(((2, 2, 4, 3),), {"height": 2, "width": 7, "align_corners": False}),
            Sample(((1, 1, 1, 1),), {"height": 1, "width": 1}),
            Sample(((2, 2, 4, 3),), {"scale_height": 2.0, "scale_width": 1.5, "mode": "odd_scale"}),
            Sample(((2, 2, 4, 3), (1, 1, 5, 6)), {"mode": "like"}, nograd=(1,)),
            Sample(((0, 2, 4, 3),), {"height": 2, "width": 2}),
            Sample(((4, 3),), {"height": 2, "width": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_resize",
        _resize_backward,
        inputs=("head", "data"),
        attrs=(_ALIGN,),
        infer_shape=_second,
        grad=_resize_backward_grad,
        doc="The gradient of BilinearResize2D (only the shape of `data` matters).",
        samples=(Sample(((2, 1, 5, 6), (2, 1, 3, 4)), {"align_corners": False}),),
    ),
    OpDef(
        "_contrib_AdaptiveAvgPooling2D",
        _adaptive,
        attrs=(Attr("output_size", "shape", ()),),
        infer_shape=_adaptive_shape,
        infer_dtype=same_floating,
        grad=_adaptive_grad,
        doc="""Averages data (n, channels, height, width) over a grid of `output_size` cells: one number or (rows,
        columns).""",
        samples=(
            Sample(((2, 3, 5, 6),)),
            Sample(((2, 3, 5, 7),), {"output_size": (3, 4)}),
            Sample(((2, 1, 2, 2),), {"output_size": 3}),
            Sample(((0, 3, 5, 6),), {"output_size": 2}),
            Sample(((5, 6),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_adaptive_pool",
        _adaptive_backward,
        inputs=("head", "data"),
        attrs=(Attr("output_size", "shape", ()),),
        infer_shape=_second,
        grad=_adaptive_backward_grad,
        doc="The gradient of AdaptiveAvgPooling2D (only the shape of `data` matters).",
        samples=(Sample(((2, 1, 3, 2), (2, 1, 5, 4)), {"output_size": (3, 2)}),),
    ),
    OpDef(
        "UpSampling",
        _up,
        inputs=("data",),
        attrs=(
            Attr("scale", "int"),
            Attr("num_filter", "int", 0),
            Attr("sample_type", "enum", choices=("nearest", "bilinear")),
            _MULTI,
            Attr("num_args", "int"),
            Attr("workspace", "int", 512),
        ),
        variadic="num_args",
        active_inputs=_up_inputs,
        infer_shape=_up_shape,
        infer_dtype=same_floating,
        grad=_up_grad,
        doc="""Enlarges (n, channels, height, width) `scale` times. 'nearest' repeats, and enlarges further inputs
        to the same size, joined along the channels or added; 'bilinear' takes data and a weight
        (num_filter, 1, kernel, kernel) of a deconvolution.""",
        samples=(
            Sample(((2, 3, 3, 2),), {"scale": 2, "sample_type": "nearest"}),
            Sample(_UP_SHAPES, {"scale": 4, "sample_type": "nearest", "num_args": 2}),
            Sample(
                ((2, 3, 3, 2), (2, 3, 6, 4)),
                {"scale": 4, "sample_type": "nearest", "num_args": 2, "multi_input_mode": "sum"},
            ),
            Sample(
                ((2, 3, 3, 2), (3, 1, 4, 4)), {"scale": 2, "sample_type": "bilinear", "num_filter": 3, "num_args": 2}
            ),
            Sample(((1, 1, 1, 1),), {"scale": 1, "sample_type": "nearest"}),
            Sample(((0, 1, 2, 1),), {"scale": 2, "sample_type": "nearest"}),
            Sample(((2, 3),), {"scale": 2, "sample_type": "nearest"}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_UpSampling",
        _up_backward,
        inputs=("head", "data"),
        attrs=(_MULTI, Attr("num_args", "int")),
        variadic="num_args",
        outputs=lambda attrs: tuple(f"output{i}" for i in range(attrs.num_args - 1)),
        infer_shape=_up_backward_shape,
        infer_dtype=same_floating,
        grad=_up_backward_grad,
        doc="The gradients of nearest UpSampling, one for each input behind the head.",
        samples=(Sample(((2, 5, 6, 4), *_UP_SHAPES)),),
    ),
    OpDef(
        "_nearest_like",
        _nearest_like,
        inputs=("like", "data"),
        attrs=(_MULTI, Attr("num_args", "int")),
        variadic="num_args",
        infer_shape=lambda attrs, ins, outs: (ins, [unify(ins[0], outs[0])]),
        infer_dtype=same_floating,
        grad=_nearest_like_grad,
        doc="Nearest UpSampling of the inputs behind the first to the size of the first.",
        samples=(Sample(((2, 5, 6, 4), *_UP_SHAPES)),),
    ),
)
