"""Correlation: how patches of one image compare with displaced patches of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import require_known, same_floating, unify

_ATTRS = (
    Attr("kernel_size", "int", 1),
    Attr("max_displacement", "int", 1),
    Attr("stride1", "int", 1),
    Attr("stride2", "int", 1),
    Attr("pad_size", "int", 0),
    Attr("is_multiply", "bool", True),
)


class _Layout(NamedTuple):
    """Where patches lie: `start` is the first corner of a patch in padded data, `rows` x `columns` patches."""

    start: int
    rows: int
    columns: int
    displacements: tuple[int, ...]


def _layout(attrs: Attrs, shape: tuple[int, ...]) -> _Layout:
    if attrs.kernel_size % 2 == 0:
        raise MXNetError(f"`kernel_size` must be odd, got {attrs.kernel_size}")
    if min(attrs.stride1, attrs.stride2) < 1:
        raise MXNetError("`stride1` and `stride2` must be positive")
    border = attrs.max_displacement + attrs.kernel_size // 2
    room = [n + 2 * attrs.pad_size - 2 * border for n in shape[2:]]
    if min(room) < 1:
        raise MXNetError(f"data of {shape[2]} x {shape[3]} leaves no patch with this kernel, displacement and padding")
    rows, columns = (-(-n // attrs.stride1) for n in room)
    reach = attrs.max_displacement // attrs.stride2
    steps = tuple(k * attrs.stride2 for k in range(-reach, reach + 1))
    return _Layout(attrs.max_displacement, rows, columns, steps)


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    require_known(("data1", "data2"), ins)
    data = unify(ins[0], ins[1])
    assert data is not None
    if len(data) != 4:
        raise MXNetError(f"data must have 4 dimensions (n, channels, height, width), got {data}")
    if -1 in data[2:]:
        return [data, data], outs
    layout = _layout(attrs, data)
    count = len(layout.displacements) ** 2
    return [data, data], [unify((data[0], count, layout.rows, layout.columns), outs[0])]


def _padded(xp: Any, attrs: Attrs, data: Any) -> Any:
    pad = attrs.pad_size
    if not pad:
        return data
    n, channels, height, width = data.shape
    result = xp.zeros((n, channels, height + 2 * pad, width + 2 * pad), dtype=data.dtype)
    result[:, :, pad : pad + height, pad : pad + width] = data
    return result


def _pairs(attrs: Attrs, layout: _Layout) -> Iterator[tuple[int, Any, Any]]:
    """For each displacement and element of the patch: the output channel and the subscripts in both images."""
    channel = 0
    for dy in layout.displacements:
        for dx in layout.displacements:
            for i in range(attrs.kernel_size):
                for j in range(attrs.kernel_size):
                    y, x = layout.start + i, layout.start + j
                    yield channel, _window(attrs, layout, y, x), _window(attrs, layout, y + dy, x + dx)
            channel += 1


def _window(attrs: Attrs, layout: _Layout, y: int, x: int) -> Any:
    s = attrs.stride1
    rows = slice(y, y + (layout.rows - 1) * s + 1, s)
    return (slice(None), slice(None), rows, slice(x, x + (layout.columns - 1) * s + 1, s))


def _size(attrs: Attrs, data: Any) -> Any:
    return data.dtype.type(attrs.kernel_size**2 * data.shape[1])


def _kernel(xp: Any, attrs: Attrs, data1: Any, data2: Any) -> Any:
    a, b = (_padded(xp, attrs, x) for x in widen(xp, data1, data2))
    layout = _layout(attrs, data1.shape)
    result = xp.zeros((a.shape[0], len(layout.displacements) ** 2, layout.rows, layout.columns), dtype=a.dtype)
    for channel, first, second in _pairs(attrs, layout):
        if attrs.is_multiply:
            result[:, channel] += xp.einsum("nchw,nchw->nhw", a[first], b[second])
        else:
            result[:, channel] += xp.abs(a[first] - b[second]).sum(axis=1)
    result /= _size(attrs, a)
    return narrow(result, data1)


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_Correlation(heads[0], *node.inputs, **_settings(node.attrs))


def _settings(attrs: Attrs) -> dict[str, Any]:
    return {a.name: getattr(attrs, a.name) for a in _ATTRS}


def _backward(xp: Any, attrs: Attrs, head: Any, data1: Any, data2: Any) -> tuple[Any, Any]:
    h, x1, x2 = widen(xp, head, data1, data2)
    a, b = _padded(xp, attrs, x1), _padded(xp, attrs, x2)
    h = h / _size(attrs, a)
    to_a, to_b = xp.zeros_like(a), xp.zeros_like(b)
    for channel, first, second in _pairs(attrs, _layout(attrs, data1.shape)):
        share = h[:, channel : channel + 1]
        if attrs.is_multiply:
            to_a[first] += share * b[second]
            to_b[second] += share * a[first]
        else:
            slope = share * _signs(xp, a[first], b[second])
            to_a[first] += slope
            to_b[second] -= slope
    pad, (height, width) = attrs.pad_size, data1.shape[2:]
    inner = (slice(None), slice(None), slice(pad, pad + height), slice(pad, pad + width))
    return narrow(xp.ascontiguousarray(to_a[inner]), head), narrow(xp.ascontiguousarray(to_b[inner]), head)


def _backward_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    return ins, [unify(ins[1], outs[0]), unify(ins[2], outs[1])]


def _backward_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, data1, data2), (u, v), attrs = node.inputs, heads, node.attrs
    settings = _settings(attrs)
    if attrs.is_multiply:  # the product is linear in each image
        to_head = F.Correlation(u, data2, **settings) + F.Correlation(data1, v, **settings)
        to_first = F._backward_Correlation(head, data1, v, **settings)[0]
        to_second = F._backward_Correlation(head, u, data2, **settings)[1]
        return [to_head, to_first, to_second]
    # the sign of the difference is constant almost everywhere
    return [F._correlation_slope(u, v, data1, data2, **settings), None, None]


def _slope(xp: Any, attrs: Attrs, first: Any, second: Any, data1: Any, data2: Any) -> Any:
    u, v, a, b = (_padded(xp, attrs, x) for x in widen(xp, first, second, data1, data2))
    layout = _layout(attrs, data1.shape)
    result = xp.zeros((a.shape[0], len(layout.displacements) ** 2, layout.rows, layout.columns), dtype=a.dtype)
    for channel, here, there in _pairs(attrs, layout):
        result[:, channel] += ((u[here] - v[there]) * _signs(xp, a[here], b[there])).sum(axis=1)
    result /= _size(attrs, a)
    return narrow(result, data1)


def _slope_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    first, found = _infer_shape(attrs, ins[:2], outs)
    return [*first, *ins[2:]], found


def _slope_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    settings = {**_settings(node.attrs), "is_multiply": False}
    return [*F._backward_Correlation(heads[0], *node.inputs[2:], **settings), None, None]


def _signs(xp: Any, a: Any, b: Any) -> Any:
    """Of equal elements the first picture counts as the larger one, as in MXNet."""
    return xp.where(a >= b, a.dtype.type(1), a.dtype.type(-1))


OPERATORS = (
    OpDef(
        "Correlation",
        _kernel,
        inputs=("data1", "data2"),
        attrs=_ATTRS,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        stored_outputs=lambda attrs: 3,
        grad=_grad,
        doc="""For each displacement up to `max_displacement` (in steps of `stride2`) the mean product, or absolute
        difference, of patches of data1 and displaced patches of data2, both (n, channels, height, width):
        one output channel each.""",
        samples=(
            Sample(((1, 2, 6, 6), (1, 2, 6, 6)), {"pad_size": 1}),
            Sample(
                ((2, 1, 7, 6), (2, 1, 7, 6)),
                {"kernel_size": 3, "max_displacement": 2, "stride1": 2, "stride2": 2, "pad_size": 3},
            ),
            Sample(((1, 2, 3, 3), (1, 2, 3, 3)), {"max_displacement": 0}),
            Sample(((1, 2, 6, 6), (1, 2, 6, 6)), {"pad_size": 1, "is_multiply": False}),
            Sample(((1, 2, 3), (1, 2, 3)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_Correlation",
        _backward,
        inputs=("head", "data1", "data2"),
        attrs=_ATTRS,
        outputs=("data1", "data2"),
        infer_shape=_backward_shape,
        infer_dtype=same_floating,
        grad=_backward_grad,
        doc="The gradients of Correlation for both images.",
        samples=(Sample(((1, 9, 6, 6), (1, 2, 6, 6), (1, 2, 6, 6)), {"pad_size": 1}),),
    ),
    OpDef(
        "_correlation_slope",
        _slope,
        inputs=("first", "second", "data1", "data2"),
        attrs=_ATTRS,
        infer_shape=_slope_shape,
        infer_dtype=same_floating,
        grad=_slope_grad,
        doc="How Correlation of absolute differences changes when the images move along `first` and `second`.",
        samples=(Sample(((1, 2, 6, 6),) * 4, {"pad_size": 1}, nograd=(2, 3)),),
    ),
)
