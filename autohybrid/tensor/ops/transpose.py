"""Operators that reorder elements: transpose, SwapAxis, reverse, depth_to_space, space_to_depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis, unify
from autohybrid.tensor.templates import View


# -- transpose -------------------------------------------------------------------------------------------------------
def _permutation(axes: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if not axes:
        return tuple(range(ndim - 1, -1, -1))
    if sorted(axes) != list(range(ndim)):
        raise MXNetError(
            f"`axes` {axes} is no permutation of the axes 0 to {ndim - 1} of an array of {ndim} dimensions"
        )
    return axes


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axes.index(i) for i in range(len(axes)))


def _infer_transpose(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, out = ins[0], outs[0]
    known = source if source is not None else out
    if known is None:
        return ins, outs
    axes = _permutation(attrs.axes, len(known))
    if out is not None:
        source = unify(source, tuple(out[i] for i in _inverse(axes)))
    assert source is not None
    return [source], [unify(tuple(source[i] for i in axes), out)]


def _transpose(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.transpose(_permutation(attrs.axes, data.ndim))


def _grad_transpose(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.transpose(heads[0], axes=_inverse(node.attrs.axes))


# -- SwapAxis --------------------------------------------------------------------------------------------------------
def _swapped(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    first, second = normalize_axis(attrs.dim1, ndim, "dim1"), normalize_axis(attrs.dim2, ndim, "dim2")
    axes = list(range(ndim))
    axes[first], axes[second] = second, first
    return tuple(axes)


def _infer_swap(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, out = ins[0], outs[0]
    known = source if source is not None else out
    if known is None:
        return ins, outs
    axes = _swapped(attrs, len(known))
    if out is not None:
        source = unify(source, tuple(out[i] for i in axes))
    assert source is not None
    return [source], [unify(tuple(source[i] for i in axes), out)]


def _swap(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.transpose(_swapped(attrs, data.ndim))


def _grad_swap(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.SwapAxis(heads[0], dim1=node.attrs.dim1, dim2=node.attrs.dim2)


# -- reverse ---------------------------------------------------------------------------------------------------------
def _infer_reverse(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    if shape is not None:
        for axis in attrs.axis:
            if not 0 <= axis < len(shape):
                raise MXNetError(
                    f"`axis` {axis} is out of range for an array of {len(shape)} dimensions (0 to {len(shape) - 1}; "
                    "negative axes are not taken here)"
                )
    return [shape], [shape]


def _reverse(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.flip(data, tuple(set(attrs.axis))) if attrs.axis else data


def _grad_reverse(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.reverse(heads[0], axis=node.attrs.axis)


# -- depth_to_space, space_to_depth ----------------------------------------------------------------------------------
def _block(attrs: Attrs) -> int:
    if attrs.block_size < 1:
        raise MXNetError(f"`block_size` must be at least 1, got {attrs.block_size}")
    return attrs.block_size  # type: ignore[no-any-return]


def _four(shape: Shape) -> Shape:
    return unify(shape, (-1, -1, -1, -1))


def _divided(extent: int, by: int, what: str) -> int:
    if extent == -1:
        return -1
    if extent == 0 or extent % by:
        raise MXNetError(f"the {what} extent {extent} does not divide by {by}")
    return extent // by


def _times(extent: int, by: int) -> int:
    return -1 if extent == -1 else extent * by


def _infer_depth_to_space(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    block, shape = _block(attrs), _four(ins[0])
    assert shape is not None
    n, c, h, w = shape
    if 0 in (h, w):
        raise MXNetError(f"there are no elements to rearrange in shape {shape}")
    target = (n, _divided(c, block * block, "channel"), _times(h, block), _times(w, block))
    return [shape], [unify(target, outs[0])]


def _infer_space_to_depth(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    block, shape = _block(attrs), _four(ins[0])
    assert shape is not None
    n, c, h, w = shape
    if c == 0:
        raise MXNetError(f"there are no channels in shape {shape}")
    target = (n, _times(c, block * block), _divided(h, block, "height"), _divided(w, block, "width"))
    return [shape], [unify(target, outs[0])]


def _depth_to_space(xp: Any, attrs: Attrs, data: Any) -> Any:
    b = attrs.block_size
    if b == 1:
        return data.copy()
    n, c, h, w = data.shape
    blocks = data.reshape(n, b, b, c // (b * b), h, w)
    return blocks.transpose(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)


def _space_to_depth(xp: Any, attrs: Attrs, data: Any) -> Any:
    b = attrs.block_size
    if b == 1:
        return data.copy()
    n, c, h, w = data.shape
    blocks = data.reshape(n, c, h // b, b, w // b, b)
    return blocks.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


def _grad_depth_to_space(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.space_to_depth(heads[0], block_size=node.attrs.block_size)


def _grad_space_to_depth(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.depth_to_space(heads[0], block_size=node.attrs.block_size)


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "transpose",
        _transpose,
        attrs=(Attr("axes", "shape", (), doc="the permutation; by default the axes are reversed"),),
        infer_shape=_infer_transpose,
        grad=_grad_transpose,
        methods=("transpose",),
        view=True,
        by_rows=lambda attrs, ins: (0,) if attrs.axes and attrs.axes[0] == 0 else (),
        fast=View(lambda call: f"{call.inputs[0]}.transpose({_permutation(call.attrs.axes, len(call.out_shape))})"),
        doc="`data` with its axes permuted: axis k of the result is axis `axes[k]` of `data`. No negative axes.",
        samples=(
            Sample(((2, 3, 4),)),
            Sample(((2, 3, 4),), {"axes": (1, 2, 0)}),
            Sample(((5,),)),
            Sample(((0, 3),)),
            Sample(((2, 3),), {"axes": (0,)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "SwapAxis",
        _swap,
        attrs=(Attr("dim1", "int", 0), Attr("dim2", "int", 0)),
        infer_shape=_infer_swap,
        grad=_grad_swap,
        aliases=("swapaxes", "_npi_swapaxes"),
        methods=("swapaxes",),
        view=True,
        fast=View(lambda call: f"{call.inputs[0]}.transpose({_swapped(call.attrs, len(call.out_shape))})"),
        doc="`data` with axes `dim1` and `dim2` exchanged.",
        samples=(
            Sample(((2, 3, 4),), {"dim1": 0, "dim2": 2}),
            Sample(((2, 3),), {"dim1": -1, "dim2": 0}),
            Sample(((1, 1),)),
            Sample(((0, 2),), {"dim1": 0, "dim2": 1}),
            Sample(((2, 3),), {"dim1": 0, "dim2": 5}, error="MXNetError"),
        ),
    ),
    OpDef(
        "reverse",
        _reverse,
        attrs=(Attr("axis", "shape", doc="the axes to reverse"),),
        infer_shape=_infer_reverse,
        grad=_grad_reverse,
        aliases=("flip",),
        methods=("flip",),
        view=True,
        doc="`data` with the order of elements reversed along `axis`. Unlike NumPy's `flip` negative axes are refused.",
        samples=(
            Sample(((2, 3, 4),), {"axis": 1}),
            Sample(((2, 3, 4),), {"axis": (0, 2)}),
            Sample(((1,),), {"axis": 0}),
            Sample(((0, 3),), {"axis": 1}),
            Sample(((2, 3),), {"axis": -1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "depth_to_space",
        _depth_to_space,
        attrs=(Attr("block_size", "int"),),
        infer_shape=_infer_depth_to_space,
        grad=_grad_depth_to_space,
        methods=("depth_to_space",),
        doc="(n, c*b*b, h, w) to (n, c, h*b, w*b): blocks of channels become blocks of pixels.",
        samples=(
            Sample(((2, 8, 1, 3),), {"block_size": 2}),
            Sample(((1, 9, 2, 1),), {"block_size": 3}),
            Sample(((1, 3, 2, 2),), {"block_size": 1}),
            Sample(((1, 5, 2, 2),), {"block_size": 2}, error="MXNetError"),
            Sample(((1, 4, 2, 2),), {"block_size": 0}, error="MXNetError"),
            Sample(((1, 4, 0, 2),), {"block_size": 2}, error="MXNetError"),
        ),
    ),
    OpDef(
        "space_to_depth",
        _space_to_depth,
        attrs=(Attr("block_size", "int"),),
        infer_shape=_infer_space_to_depth,
        grad=_grad_space_to_depth,
        methods=("space_to_depth",),
        doc="(n, c, h*b, w*b) to (n, c*b*b, h, w): blocks of pixels become blocks of channels.",
        samples=(
            Sample(((2, 3, 4, 2),), {"block_size": 2}),
            Sample(((1, 1, 3, 6),), {"block_size": 3}),
            Sample(((1, 3, 2, 2),), {"block_size": 1}),
            Sample(((1, 5, 3, 2),), {"block_size": 2}, error="MXNetError"),
        ),
    ),
)
