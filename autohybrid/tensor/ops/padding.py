"""Operators that extend an array at its edges or move between vector and diagonal: Pad, diag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import Dtypes, GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import normalize_axis, same_dtype, unify


# -- Pad -------------------------------------------------------------------------------------------------------------
def _pairs(attrs: Attrs) -> list[tuple[int, int]]:
    return list(zip(attrs.pad_width[::2], attrs.pad_width[1::2]))


def _check_pad(attrs: Attrs, source: tuple[int, ...]) -> None:
    if len(source) not in (4, 5):
        raise MXNetError(f"Pad takes arrays of 4 or 5 dimensions, got {len(source)}")
    if len(attrs.pad_width) != 2 * len(source):
        raise MXNetError(
            f"`pad_width` needs {2 * len(source)} numbers for {len(source)} dimensions, got {attrs.pad_width}"
        )
    if any(attrs.pad_width[:4]):
        raise MXNetError(
            f"the first two axes cannot be padded, `pad_width` must start with (0, 0, 0, 0): {attrs.pad_width}"
        )
    if min(attrs.pad_width) < 0:
        raise MXNetError(f"`pad_width` must not be negative, got {attrs.pad_width}; cut with `slice`")
    if attrs.mode == "reflect":
        for extent, pair in zip(source, _pairs(attrs)):
            if extent != -1 and max(pair) >= extent and max(pair) > 0:
                raise MXNetError(f"mode 'reflect' pads by less than the extent {extent}, got {pair}")


def _infer_pad(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, out = ins[0], outs[0]
    if source is None:
        return ins, outs
    _check_pad(attrs, source)
    padded = tuple(-1 if e == -1 else e + a + b for e, (a, b) in zip(source, _pairs(attrs)))
    return [source], [unify(padded, out)]


def _only_floats(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    ins, outs = same_dtype(attrs, ins, outs)
    if ins[0] is not None and not ins[0].startswith(("float", "bfloat")):
        raise MXNetError(f"Pad takes floating point arrays, got {ins[0]}; convert with `astype`")
    return ins, outs


def _pad(xp: Any, attrs: Attrs, data: Any) -> Any:
    if attrs.mode != "constant":
        return xp.pad(data, _pairs(attrs), mode=attrs.mode)
    pairs = _pairs(attrs)
    shape = tuple(e + a + b for e, (a, b) in zip(data.shape, pairs))
    if attrs.constant_value == 0:
        result = xp.zeros(shape, dtype=data.dtype)
    else:
        result = xp.full(shape, attrs.constant_value, dtype=data.dtype)
    result[tuple(slice(a, a + e) for e, (a, _) in zip(data.shape, pairs))] = data
    return result


def _grad_pad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_pad(heads[0], mode=node.attrs.mode, pad_width=node.attrs.pad_width)


def _infer_backward_pad(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None:
        return ins, outs
    inner = tuple(-1 if e == -1 else e - a - b for e, (a, b) in zip(ins[0], _pairs(attrs)))
    return ins, [unify(inner, outs[0])]


def _backward_pad(xp: Any, attrs: Attrs, head: Any) -> Any:
    """The adjoint, axis by axis: what a border element got goes back to the element it was copied from."""
    for axis, (before, after) in enumerate(_pairs(attrs)):
        if before or after:
            head = _fold_axis(xp, attrs.mode, head, axis, before, after)
    return head


def _fold_axis(xp: Any, mode: str, head: Any, axis: int, before: int, after: int) -> Any:
    front = (slice(None),) * axis
    size = head.shape[axis] - before - after
    inner = head[(*front, slice(before, before + size))].copy()
    first, last = head[(*front, slice(0, before))], head[(*front, slice(before + size, None))]
    if mode == "edge":
        inner[(*front, slice(0, 1))] += first.sum(axis=axis, keepdims=True, dtype=head.dtype)
        inner[(*front, slice(size - 1, size))] += last.sum(axis=axis, keepdims=True, dtype=head.dtype)
    elif mode == "reflect":
        inner[(*front, slice(1, 1 + before))] += xp.flip(first, axis)
        inner[(*front, slice(size - 1 - after, size - 1))] += xp.flip(last, axis)
    return inner


def _grad_backward_pad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.Pad(heads[0], mode=node.attrs.mode, pad_width=node.attrs.pad_width)


# -- diag ------------------------------------------------------------------------------------------------------------
def _diagonal_axes(attrs: Attrs, ndim: int) -> tuple[int, int]:
    first, second = normalize_axis(attrs.axis1, ndim, "axis1"), normalize_axis(attrs.axis2, ndim, "axis2")
    if first == second:
        raise MXNetError(f"`axis1` {attrs.axis1} and `axis2` {attrs.axis2} are the same axis")
    return first, second


def _infer_diag(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, outs
    if len(source) < 2:
        extent = -1 if -1 in source else (source[0] if source else 1) + abs(attrs.k)
        return ins, [unify((extent, extent), outs[0])]
    first, second = _diagonal_axes(attrs, len(source))
    rest = tuple(e for i, e in enumerate(source) if i not in (first, second))
    height, width = source[first], source[second]
    if -1 in (height, width):
        return ins, [unify((*rest, -1), outs[0])]
    length = min(height, width - attrs.k) if attrs.k >= 0 else min(height + attrs.k, width)
    if length < 0:
        raise MXNetError(f"diagonal {attrs.k} lies outside an array of extents {height} and {width}")
    return ins, [unify((*rest, length), outs[0])]


def _diag(xp: Any, attrs: Attrs, data: Any) -> Any:
    if data.ndim < 2:
        return xp.diag(data.reshape(-1), attrs.k)
    return xp.diagonal(data, attrs.k, *_diagonal_axes(attrs, data.ndim)).copy()


def _grad_diag(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs = node.attrs
    return F._backward_diag(heads[0], node.inputs[0], k=attrs.k, axis1=attrs.axis1, axis2=attrs.axis2)


def _infer_backward_diag(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[1], outs[0])
    return [ins[0], shape], [shape]


def _backward_diag(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    if data.ndim < 2:
        return xp.diagonal(head, attrs.k).reshape(data.shape).copy()
    result = xp.zeros(data.shape, dtype=head.dtype)
    first, second = _diagonal_axes(attrs, data.ndim)
    moved = xp.moveaxis(result, (first, second), (-2, -1))
    length = head.shape[-1]
    rows, columns = max(-attrs.k, 0), max(attrs.k, 0)
    places = xp.arange(length)
    moved[..., places + rows, places + columns] = head
    return result


def _grad_backward_diag(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    return [F.diag(heads[0], k=attrs.k, axis1=attrs.axis1, axis2=attrs.axis2), None]


_MODE = Attr("mode", "enum", choices=("constant", "edge", "reflect"))
_WIDTH = Attr("pad_width", "shape", doc="(before, after) of each axis in a row; zeros for the first two axes")
_DIAGONAL = (
    Attr("k", "int", 0, doc="which diagonal; above the main one if positive"),
    Attr("axis1", "int", 0),
    Attr("axis2", "int", 1),
)
_IMAGE = (1, 2, 4, 3)

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "Pad",
        _pad,
        attrs=(_MODE, _WIDTH, Attr("constant_value", "float", 0.0)),
        infer_shape=_infer_pad,
        infer_dtype=_only_floats,
        grad=_grad_pad,
        aliases=("pad",),
        methods=("pad",),
        doc="`data` of 4 or 5 dimensions extended along its last axes by a constant, its edge, or its mirror image.",
        samples=(
            Sample((_IMAGE,), {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 2, 2, 1), "constant_value": 3.5}),
            Sample((_IMAGE,), {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 2, 2, 1)}),
            Sample((_IMAGE,), {"mode": "reflect", "pad_width": (0, 0, 0, 0, 1, 2, 2, 1)}),
            Sample(((1, 1, 1, 1),), {"mode": "constant", "pad_width": (0,) * 8}),
            Sample(((0, 2, 3, 3),), {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 0, 0, 1)}),
            Sample(((3, 4),), {"mode": "edge", "pad_width": (0, 0, 1, 1)}, error="MXNetError"),
            Sample((_IMAGE,), {"mode": "wrap", "pad_width": (0,) * 8}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_pad",
        _backward_pad,
        inputs=("head",),
        attrs=(_MODE, _WIDTH),
        infer_shape=_infer_backward_pad,
        grad=_grad_backward_pad,
        view=True,
        doc="The gradient of `Pad`.",
        samples=(
            Sample(((1, 1, 7, 5),), {"mode": "reflect", "pad_width": (0, 0, 0, 0, 2, 1, 1, 1)}),
            Sample(((1, 1, 7, 5),), {"mode": "edge", "pad_width": (0, 0, 0, 0, 2, 0, 1, 2)}),
        ),
    ),
    OpDef(
        "diag",
        _diag,
        attrs=_DIAGONAL,
        infer_shape=_infer_diag,
        grad=_grad_diag,
        methods=("diag",),
        doc="Of a vector the matrix with it on diagonal `k`; else diagonal `k` of the matrices over `axis1`, `axis2`.",
        samples=(
            Sample(((3,),), {"k": -1}),
            Sample(((3, 4),), {"k": 1}),
            Sample(((2, 3, 3),), {"axis1": 1, "axis2": -1}),
            Sample(((1, 1),)),
            Sample(((0,),)),
            Sample(((2, 3),), {"k": 3}),
            Sample(((2, 3),), {"k": 9}, error="MXNetError"),
            Sample(((2, 3),), {"axis1": 0, "axis2": 0}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_diag",
        _backward_diag,
        inputs=("head", "data"),
        attrs=_DIAGONAL,
        infer_shape=_infer_backward_diag,
        grad=_grad_backward_diag,
        doc="The gradient of `diag`: `head` put on the diagonal (or taken from it) in the shape of `data`.",
        samples=(
            Sample(((3,), (3, 4)), {"k": 1}, nograd=(1,)),
            Sample(((4, 4), (3,)), {"k": -1}, nograd=(1,)),
        ),
    ),
)
