"""Operators that keep the order of elements: Reshape, reshape_like, Flatten, expand_dims, squeeze."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.reshape_codes import fill_unknown_extent, resolve_reshape
from autohybrid.tensor.shapes import first_dtype, is_known, normalize_axis, require_known, unify
from autohybrid.tensor.templates import reshaped


def _grad_like_input(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.reshape_like(heads[0], node.inputs[0])


# -- Reshape ---------------------------------------------------------------------------------------------------------
def _target(attrs: Attrs, source: tuple[int, ...]) -> tuple[int, ...]:
    if attrs.shape or not attrs.target_shape:
        return resolve_reshape(source, attrs.shape, attrs.reverse)
    # The legacy attribute: one 0 is inferred; with `keep_highest` the first extent is the input's.
    target = list(attrs.target_shape)
    if attrs.keep_highest:
        target[0] = source[0]
    codes = [-1 if extent == 0 and not (attrs.keep_highest and i == 0) else extent for i, extent in enumerate(target)]
    return resolve_reshape(source, codes)


def _infer_reshape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, out = ins[0], outs[0]
    if source is None:
        return ins, outs
    if out is not None and is_known(out):
        source = fill_unknown_extent(source, prod(out))
    return [source], [unify(_target(attrs, source), out)]


def _reshape(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.reshape(_target(attrs, data.shape))


# -- reshape_like ----------------------------------------------------------------------------------------------------
def _span(begin: int | None, end: int | None, ndim: int, side: str) -> tuple[int, int]:
    first = 0 if begin is None else begin + ndim if begin < 0 else begin
    last = ndim if end is None else end + ndim if end < 0 else end
    if not 0 <= first < max(ndim, 1) or not 0 <= last <= ndim or last <= first < ndim:
        raise MXNetError(
            f"`{side}_begin` {begin} and `{side}_end` {end} are no range of axes of an array of {ndim} dimensions"
        )
    return first, last


def _like_target(attrs: Attrs, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    l_first, l_last = _span(attrs.lhs_begin, attrs.lhs_end, len(lhs), "lhs")
    r_first, r_last = _span(attrs.rhs_begin, attrs.rhs_end, len(rhs), "rhs")
    target = lhs[:l_first] + rhs[r_first:r_last] + lhs[l_last:]
    if -1 not in lhs and -1 not in target and prod(lhs) != prod(target):
        raise MXNetError(f"cannot reshape `lhs` of shape {lhs} to {target}, with the axes taken from `rhs` {rhs}")
    return target


def _infer_reshape_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    lhs, rhs = ins
    whole = attrs.lhs_begin is attrs.lhs_end is attrs.rhs_begin is attrs.rhs_end is None
    if lhs is None:
        return ins, [unify(rhs, outs[0])] if whole else outs
    require_known(("rhs",), (rhs,))
    assert rhs is not None
    target = _like_target(attrs, lhs, rhs)
    if is_known(target):
        lhs = fill_unknown_extent(lhs, prod(target))
    return [lhs, rhs], [unify(target, outs[0])]


def _reshape_like(xp: Any, attrs: Attrs, lhs: Any, rhs: Any) -> Any:
    return lhs.reshape(_like_target(attrs, lhs.shape, rhs.shape))


def _grad_reshape_like(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.reshape_like(heads[0], node.inputs[0]), None]


# -- Flatten ---------------------------------------------------------------------------------------------------------
def _infer_flatten(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source = ins[0]
    if source is None:
        return ins, [unify(outs[0], (-1, -1))]
    if not source:
        raise MXNetError("Flatten needs an array of at least one dimension")
    rest = -1 if -1 in source[1:] else prod(source[1:])
    out = unify((source[0], rest), outs[0])
    assert out is not None
    return [(out[0], *source[1:])], [out]


def _flatten(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.reshape(data.shape[0], prod(data.shape[1:]))


# -- expand_dims, squeeze --------------------------------------------------------------------------------------------
def _infer_expand_dims(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source, out = ins[0], outs[0]
    if source is None and out is None:
        return ins, outs
    ndim = len(out) if out is not None else len(source or ()) + 1
    axis = normalize_axis(attrs.axis, ndim)
    if out is not None:
        source = unify(source, out[:axis] + out[axis + 1 :])
    assert source is not None
    return [source], [unify((*source[:axis], 1, *source[axis:]), out)]


def _expand_dims(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.expand_dims(data, attrs.axis)


def _squeezed_axes(axis: tuple[int, ...] | None, shape: tuple[int, ...]) -> set[int]:
    if axis is None:
        return {i for i, extent in enumerate(shape) if extent == 1}
    axes = [normalize_axis(a, len(shape)) for a in axis]
    if len(set(axes)) < len(axes):
        raise MXNetError(f"`axis` {axis} names one axis twice")
    for a in axes:
        if shape[a] not in (1, -1):
            raise MXNetError(f"cannot squeeze axis {a} of shape {shape}: its extent is {shape[a]}, not 1")
    return set(axes)


def _squeezed(attrs: Attrs, shape: tuple[int, ...]) -> tuple[int, ...]:
    gone = _squeezed_axes(attrs.axis, shape)
    kept = tuple(extent for i, extent in enumerate(shape) if i not in gone)
    return kept or (1,)  # an array keeps at least one axis


def _infer_squeeze(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    source: Shape = ins[0]
    if source is None or (attrs.axis is None and -1 in source):
        return ins, outs
    return ins, [unify(_squeezed(attrs, source), outs[0])]


def _squeeze(xp: Any, attrs: Attrs, data: Any) -> Any:
    return data.reshape(_squeezed(attrs, data.shape))


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "Reshape",
        _reshape,
        attrs=(
            Attr("shape", "shape", (), doc="target extents, or codes: 0 keep, -1 infer, -2 rest, -3 merge, -4 split"),
            Attr("reverse", "bool", False, doc="read the codes from the right"),
            Attr("target_shape", "shape", (), doc="legacy: target extents, one 0 inferred"),
            Attr("keep_highest", "bool", False, doc="legacy, with `target_shape`: keep the first extent"),
        ),
        infer_shape=_infer_reshape,
        grad=_grad_like_input,
        aliases=("reshape",),
        methods=("reshape",),
        view=True,
        fast=reshaped,
        doc="The elements of `data` in another shape. Codes in `shape`: 0 keeps an extent, -1 is inferred, -2 keeps "
        "the rest, -3 merges two, -4 splits one. Unlike NumPy, 0 does not mean an empty axis.",
        samples=(
            Sample(((2, 3, 4),), {"shape": (-1,)}),
            Sample(((2, 3, 5),), {"shape": (0, -1)}),
            Sample(((6, 4),), {"shape": (-4, 2, -1, -2)}),
            Sample(((8, 3, 4),), {"shape": (-1, 0), "reverse": True}),
            Sample(((2, 3),), {"shape": (4, -1)}, error="MXNetError"),
            Sample(((2, 3),), error="MXNetError"),
        ),
    ),
    OpDef(
        "reshape_like",
        _reshape_like,
        inputs=("lhs", "rhs"),
        attrs=(
            Attr("lhs_begin", "int?", None),
            Attr("lhs_end", "int?", None),
            Attr("rhs_begin", "int?", None),
            Attr("rhs_end", "int?", None),
        ),
        infer_shape=_infer_reshape_like,
        infer_dtype=first_dtype,
        grad=_grad_reshape_like,
        aliases=("_npx_reshape_like",),
        methods=("reshape_like",),
        view=True,
        fast=reshaped,
        doc="`lhs` in the shape of `rhs`; with begin and end these axes of `lhs` take the extents of those of `rhs`.",
        samples=(
            Sample(((2, 3), (3, 2)), nograd=(1,)),
            Sample(((6, 5), (2, 3, 4)), {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2}, nograd=(1,)),
            Sample(((2, 3), (2, 2)), error="MXNetError"),
        ),
    ),
    OpDef(
        "Flatten",
        _flatten,
        infer_shape=_infer_flatten,
        grad=_grad_like_input,
        aliases=("flatten", "_npx_batch_flatten"),
        methods=("flatten",),
        view=True,
        fast=reshaped,
        doc="`data` (n, a, b, ...) as a matrix (n, a*b*...). Unlike NumPy's `flatten` the first axis stays.",
        samples=(Sample(((2, 3, 4),)), Sample(((5,),)), Sample(((1, 1),)), Sample(((0, 3, 2),))),
    ),
    OpDef(
        "expand_dims",
        _expand_dims,
        attrs=(Attr("axis", "int", doc="where the new axis goes, from -ndim-1 to ndim"),),
        infer_shape=_infer_expand_dims,
        grad=_grad_like_input,
        aliases=("_npi_expand_dims",),
        methods=("expand_dims",),
        view=True,
        fast=reshaped,
        doc="`data` with a further axis of extent 1 at `axis`.",
        samples=(
            Sample(((2, 3),), {"axis": 0}),
            Sample(((2, 3),), {"axis": -1}),
            Sample(((0, 3),), {"axis": 1}),
            Sample(((2, 3),), {"axis": 4}, error="MXNetError"),
        ),
    ),
    OpDef(
        "squeeze",
        _squeeze,
        attrs=(Attr("axis", "shape?", None, doc="axes of extent 1 to drop; all of them by default"),),
        infer_shape=_infer_squeeze,
        grad=_grad_like_input,
        methods=("squeeze",),
        view=True,
        fast=reshaped,
        doc="`data` without its axes of extent 1. Unlike NumPy's an array keeps at least one axis.",
        samples=(
            Sample(((1, 2, 1, 3),)),
            Sample(((1, 2, 1, 3),), {"axis": -2}),
            Sample(((1, 1),)),
            Sample(((1, 0),), {"axis": 0}),
            Sample(((2, 3),), {"axis": 0}, error="MXNetError"),
        ),
    ),
)
