"""Operators that repeat elements to fill a larger shape: broadcast_to, broadcast_like, broadcast_axis, tile, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import first_dtype, normalize_axis, unify


# -- broadcast_to ----------------------------------------------------------------------------------------------------
def _stretched(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """`target`, checked to be a broadcast of `source` with the same number of dimensions."""
    if len(source) != len(target):
        raise MXNetError(
            f"cannot broadcast shape {source} to {target}: both need the same number of dimensions; "
            "add axes with `expand_dims` or `reshape`"
        )
    result = []
    for have, want in zip(source, target):
        if have in (want, 1, -1):
            result.append(want)
        elif want == -1:
            result.append(have)
        else:
            raise MXNetError(f"cannot broadcast shape {source} to {target}: extent {have} is neither 1 nor {want}")
    return tuple(result)


def _broadcast_target(attrs: Attrs, source: tuple[int, ...]) -> tuple[int, ...]:
    """The attribute `shape` with its 0 (and -1), which keep an extent, taken from `source`."""
    kept = [have if want in (0, -1) else want for have, want in zip(source, attrs.shape)]
    return _stretched(source, (*kept, *attrs.shape[len(source) :]))


def _infer_broadcast_to(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None:
        return ins, [unify(outs[0], tuple(extent or -1 for extent in attrs.shape))]
    return ins, [unify(_broadcast_target(attrs, ins[0]), outs[0])]


def _broadcast_to(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.broadcast_to(data, _broadcast_target(attrs, data.shape))


def _grad_unbroadcast(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._unbroadcast(heads[0], node.inputs[0])


# -- broadcast_like --------------------------------------------------------------------------------------------------
def _like_target(attrs: Attrs, lhs: tuple[int, ...], rhs: tuple[int, ...]) -> tuple[int, ...]:
    if attrs.lhs_axes is None and attrs.rhs_axes is None:
        return _stretched(lhs, rhs)
    lhs_axes, rhs_axes = attrs.lhs_axes or (), attrs.rhs_axes or ()
    if len(lhs_axes) != len(rhs_axes) or not lhs_axes:
        raise MXNetError(f"`lhs_axes` {lhs_axes} and `rhs_axes` {rhs_axes} must be of one length, at least 1")
    target = list(lhs)
    for mine, other in zip(lhs_axes, rhs_axes):
        at = normalize_axis(mine, len(lhs), "lhs_axes")
        if lhs[at] not in (1, -1):
            raise MXNetError(f"cannot broadcast axis {at} of `lhs` {lhs}: its extent is {lhs[at]}, not 1")
        target[at] = rhs[normalize_axis(other, len(rhs), "rhs_axes")]
    return tuple(target)


def _infer_broadcast_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return ins, outs
    return ins, [unify(_like_target(attrs, lhs, rhs), outs[0])]


def _broadcast_like(xp: Any, attrs: Attrs, lhs: Any, rhs: Any) -> Any:
    return xp.broadcast_to(lhs, _like_target(attrs, lhs.shape, rhs.shape))


def _grad_broadcast_like(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F._unbroadcast(heads[0], node.inputs[0]), None]


# -- broadcast_axis --------------------------------------------------------------------------------------------------
def _axis_target(attrs: Attrs, source: tuple[int, ...]) -> tuple[int, ...]:
    if len(attrs.axis) != len(attrs.size):
        raise MXNetError(f"`axis` {attrs.axis} and `size` {attrs.size} must be of one length")
    target = list(source)
    for axis, size in zip(attrs.axis, attrs.size):
        if not 0 <= axis < len(source):
            raise MXNetError(
                f"`axis` {axis} is out of range for an array of {len(source)} dimensions (0 to {len(source) - 1})"
            )
        if target[axis] not in (1, -1):
            raise MXNetError(f"cannot broadcast axis {axis} of shape {source}: its extent is {target[axis]}, not 1")
        target[axis] = size
    return tuple(target)


def _infer_broadcast_axis(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None:
        return ins, outs
    return ins, [unify(_axis_target(attrs, ins[0]), outs[0])]


def _broadcast_axis(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.broadcast_to(data, _axis_target(attrs, data.shape))


# -- tile ------------------------------------------------------------------------------------------------------------
def _tile_plan(source: tuple[int, ...], reps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Extents and repetitions, brought to one length with ones in front."""
    ndim = max(len(source), len(reps))
    return (1,) * (ndim - len(source)) + source, (1,) * (ndim - len(reps)) + reps


def _infer_tile(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if any(rep < 0 for rep in attrs.reps):
        raise MXNetError(f"`reps` must not be negative, got {attrs.reps}")
    if ins[0] is None:
        return ins, outs
    extents, reps = _tile_plan(ins[0], attrs.reps)
    return ins, [unify(tuple(-1 if e == -1 else e * r for e, r in zip(extents, reps)), outs[0])]


def _tile(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.tile(data, attrs.reps) if attrs.reps else data.copy()


def _grad_tile(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_tile(heads[0], node.inputs[0], reps=node.attrs.reps)


def _infer_like_second(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[1], outs[0])
    return [ins[0], shape], [shape]


def _backward_tile(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    extents, reps = _tile_plan(data.shape, attrs.reps)
    paired = [n for pair in zip(reps, extents) for n in pair]
    return head.reshape(paired).sum(axis=tuple(range(0, 2 * len(reps), 2)), dtype=head.dtype).reshape(data.shape)


def _grad_backward_tile(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.tile(heads[0], reps=node.attrs.reps), None]


# -- repeat ----------------------------------------------------------------------------------------------------------
def _infer_repeat(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if attrs.repeats < 0:
        raise MXNetError(f"`repeats` must not be negative, got {attrs.repeats}")
    source: Shape = ins[0]
    if source is None:
        return ins, outs
    if attrs.axis is None:
        target: tuple[int, ...] = (-1 if -1 in source else prod(source) * attrs.repeats,)
    else:
        axis = normalize_axis(attrs.axis, len(source))
        extent = -1 if source[axis] == -1 else source[axis] * attrs.repeats
        target = (*source[:axis], extent, *source[axis + 1 :])
    return ins, [unify(target, outs[0])]


def _repeat(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.repeat(data, attrs.repeats, axis=attrs.axis)


def _grad_repeat(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._backward_repeat(heads[0], node.inputs[0], repeats=node.attrs.repeats, axis=node.attrs.axis)


def _backward_repeat(xp: Any, attrs: Attrs, head: Any, data: Any) -> Any:
    if attrs.axis is None:
        return head.reshape(*data.shape, attrs.repeats).sum(axis=-1, dtype=head.dtype)
    axis = attrs.axis % data.ndim
    split = (*data.shape[: axis + 1], attrs.repeats, *data.shape[axis + 1 :])
    return head.reshape(split).sum(axis=axis + 1, dtype=head.dtype)


def _grad_backward_repeat(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.repeat(heads[0], repeats=node.attrs.repeats, axis=node.attrs.axis), None]


_REPS = Attr("reps", "shape", doc="how often each axis is repeated; of any length")
_REPEAT = (Attr("repeats", "int"), Attr("axis", "int?", None, doc="by default the array is flattened first"))

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "broadcast_to",
        _broadcast_to,
        attrs=(Attr("shape", "shape", (), doc="target extents; 0 keeps that of `data`"),),
        infer_shape=_infer_broadcast_to,
        grad=_grad_unbroadcast,
        methods=("broadcast_to",),
        view=True,
        doc="`data` repeated along its axes of extent 1 to `shape`. Unlike NumPy's the number of dimensions stays.",
        samples=(
            Sample(((1, 3),), {"shape": (2, 3)}),
            Sample(((2, 1, 1),), {"shape": (0, 3, 4)}),
            Sample(((1, 0),), {"shape": (3, 0)}),
            Sample(((2, 3),), {"shape": (2, 4)}, error="MXNetError"),
            Sample(((3,),), {"shape": (2, 3)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "broadcast_like",
        _broadcast_like,
        inputs=("lhs", "rhs"),
        attrs=(Attr("lhs_axes", "shape?", None), Attr("rhs_axes", "shape?", None)),
        infer_shape=_infer_broadcast_like,
        infer_dtype=first_dtype,
        grad=_grad_broadcast_like,
        methods=("broadcast_like",),
        view=True,
        doc="`lhs` repeated to the shape of `rhs`; with `lhs_axes`, `rhs_axes` these axes only, to those extents.",
        samples=(
            Sample(((1, 3), (2, 3)), nograd=(1,)),
            Sample(((1, 3, 1), (4, 2)), {"lhs_axes": (0, 2), "rhs_axes": (1, 0)}, nograd=(1,)),
            Sample(((1, 3), (5, 2)), {"lhs_axes": (-2,), "rhs_axes": (-1,)}, nograd=(1,)),
            Sample(((2, 3), (4, 3)), error="MXNetError"),
        ),
    ),
    OpDef(
        "broadcast_axis",
        _broadcast_axis,
        attrs=(Attr("axis", "shape", ()), Attr("size", "shape", ())),
        infer_shape=_infer_broadcast_axis,
        grad=_grad_unbroadcast,
        aliases=("broadcast_axes",),
        methods=("broadcast_axes",),
        view=True,
        doc="`data` repeated along the axes `axis`, each of extent 1, to the extents `size`.",
        samples=(
            Sample(((1, 3, 1),), {"axis": (0, 2), "size": (2, 4)}),
            Sample(((1,),), {"axis": 0, "size": 3}),
            Sample(((2, 0),)),
            Sample(((2, 3),), {"axis": 1, "size": 9}, error="MXNetError"),
        ),
    ),
    OpDef(
        "tile",
        _tile,
        attrs=(_REPS,),
        infer_shape=_infer_tile,
        grad=_grad_tile,
        aliases=("_npi_tile",),
        methods=("tile",),
        doc="`data` laid out `reps[k]` times along axis k; the shorter of shape and `reps` gets ones in front.",
        samples=(
            Sample(((2, 3),), {"reps": (2,)}),
            Sample(((2, 3),), {"reps": (2, 1, 3)}),
            Sample(((3,),), {"reps": ()}),
            Sample(((0, 2),), {"reps": (2, 2)}),
            Sample(((2, 3),), {"reps": (-1,)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_tile",
        _backward_tile,
        inputs=("head", "data"),
        attrs=(_REPS,),
        infer_shape=_infer_like_second,
        grad=_grad_backward_tile,
        doc="The gradient of `tile`: `head` summed over the copies, in the shape of `data`.",
        samples=(Sample(((4, 3), (2, 3)), {"reps": (2, 1)}, nograd=(1,)),),
    ),
    OpDef(
        "repeat",
        _repeat,
        attrs=_REPEAT,
        infer_shape=_infer_repeat,
        grad=_grad_repeat,
        aliases=("_np_repeat",),
        methods=("repeat",),
        doc="Each element (or each slice along `axis`) of `data` `repeats` times in a row.",
        samples=(
            Sample(((2, 3),), {"repeats": 2}),
            Sample(((2, 3),), {"repeats": 3, "axis": -2}),
            Sample(((1,),), {"repeats": 1, "axis": 0}),
            Sample(((0, 3),), {"repeats": 2, "axis": 1}),
            Sample(((2, 3),), {"repeats": 2, "axis": 4}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_repeat",
        _backward_repeat,
        inputs=("head", "data"),
        attrs=_REPEAT,
        infer_shape=_infer_like_second,
        grad=_grad_backward_repeat,
        doc="The gradient of `repeat`: `head` summed over the repetitions, in the shape of `data`.",
        samples=(
            Sample(((4, 3), (2, 3)), {"repeats": 2, "axis": 0}, nograd=(1,)),
            Sample(((6,), (3,)), {"repeats": 2}, nograd=(1,)),
        ),
    ),
)
