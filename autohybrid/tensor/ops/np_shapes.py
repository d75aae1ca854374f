"""Operators of `mx.np` that rearrange elements: reshape, transpose, moveaxis, squeeze, broadcast_to, roll, rot90, flip,
and the `atleast_nd` family. Shapes have numpy's meaning: `()` is a scalar, 0 an empty axis, -1 in a target is inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.numpy_reshape import resolve_newshape, resolve_numpy_shape
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shapes
from autohybrid.tensor.shapes import broadcast_shape, normalize_axis, unify


def like_input(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    """The gradient of what only reshapes: the head in the shape of the input."""
    return F.reshape_like(heads[0], node.inputs[0])


# -- reshape -----------------------------------------------------------------------------------------------------------
def _numpy_target(shape: tuple[int, ...], attrs: Attrs) -> tuple[int, ...]:
    return resolve_numpy_shape(shape, attrs.newshape)


def _coded_target(shape: tuple[int, ...], attrs: Attrs) -> tuple[int, ...]:
    return resolve_newshape(shape, attrs.newshape, attrs.reverse)


def _infer_reshape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    _check_order(attrs)
    return ins, outs if ins[0] is None else [unify(_numpy_target(ins[0], attrs), outs[0])]


def _infer_coded_reshape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    _check_order(attrs)
    return ins, outs if ins[0] is None else [unify(_coded_target(ins[0], attrs), outs[0])]


def _check_order(attrs: Attrs) -> None:
    if attrs.order not in ("C", "A"):
        raise MXNetError(f"`order` must be 'C', got {attrs.order!r}")


# -- transpose and its kin ---------------------------------------------------------------------------------------------
def _permutation(axes: tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    if not axes:
        return tuple(reversed(range(ndim)))
    order = tuple(normalize_axis(a, ndim, "axes") for a in axes)
    if sorted(order) != list(range(ndim)):
        raise MXNetError(f"`axes` {axes} is no permutation of the axes of an array of {ndim} dimensions")
    return order


def _moved(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    if len(attrs.source) != len(attrs.destination):
        raise MXNetError(f"`source` {attrs.source} and `destination` {attrs.destination} must have one length")
    source = [normalize_axis(a, ndim, "source") for a in attrs.source]
    destination = [normalize_axis(a, ndim, "destination") for a in attrs.destination]
    if len(set(source)) < len(source) or len(set(destination)) < len(destination):
        raise MXNetError(f"`source` {attrs.source} or `destination` {attrs.destination} names an axis twice")
    order = [a for a in range(ndim) if a not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return tuple(order)


def _transpose_order(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    return _permutation(attrs.axes, ndim)


def _infer_order(order_of: Callable[[Attrs, int], tuple[int, ...]]) -> Callable[..., Any]:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        source, out = ins[0], outs[0]
        known = source if source is not None else out
        if known is None:
            return ins, outs
        order = order_of(attrs, len(known))
        if out is not None:
            source = unify(source, tuple(out[order.index(i)] for i in range(len(order))))
        assert source is not None
        return [source], [unify(tuple(source[i] for i in order), out)]

    return infer


def _reordered(
    name: str,
    order_of: Callable[[Attrs, int], tuple[int, ...]],
    attrs: tuple[Attr, ...],
    doc: str,
    samples: tuple[Sample, ...],
) -> OpDef:
    def kernel(xp: Any, attrs: Attrs, data: Any) -> Any:
        return data.transpose(order_of(attrs, data.ndim))

    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        order = order_of(node.attrs, node.inputs[0].ndim)
        return F._np_transpose(heads[0], axes=tuple(order.index(i) for i in range(len(order)))) if order else heads[0]

    return OpDef(
        name, kernel, inputs=("a",), attrs=attrs, infer_shape=_infer_order(order_of), grad=gradient, view=True,
        doc=doc, samples=samples,
    )  # fmt: skip


# -- squeeze, broadcast_to ---------------------------------------------------------------------------------------------
def _squeezed(attrs: Attrs, shape: tuple[int, ...]) -> tuple[int, ...]:
    if attrs.axis is None:
        return tuple(n for n in shape if n != 1)
    axes = {normalize_axis(a, len(shape)) for a in attrs.axis}
    wide = [a for a in axes if shape[a] not in (1, -1)]
    if wide:
        raise MXNetError(f"axis {wide[0]} of shape {shape} has extent {shape[wide[0]]}; only extents of 1 can go")
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _infer_squeeze(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None or (attrs.axis is None and -1 in ins[0]):
        return ins, outs
    return ins, [unify(_squeezed(attrs, ins[0]), outs[0])]


def _infer_broadcast_to(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is not None and broadcast_shape(ins[0], attrs.shape) != attrs.shape:
        raise MXNetError(f"an array of shape {ins[0]} does not broadcast to {attrs.shape}")
    return ins, [attrs.shape]


def _broadcast_to_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._unbroadcast(heads[0], node.inputs[0])


# -- roll, rot90, flip -------------------------------------------------------------------------------------------------
def _roll_arguments(attrs: Attrs, sign: int) -> tuple[Any, Any]:
    if not attrs.shift:
        raise MXNetError("`shift` must say by how many places to roll")
    shift, axis = attrs.shift, attrs.axis
    if axis is None:
        if len(shift) > 1:
            raise MXNetError(f"`shift` {shift} has {len(shift)} numbers, which needs as many axes")
        return sign * shift[0], None
    if len(shift) > 1 and len(axis) > 1 and len(shift) != len(axis):
        raise MXNetError(f"`shift` {shift} and `axis` {axis} must have one length")
    count = max(len(shift), len(axis))
    return tuple(sign * s for s in (shift * count if len(shift) == 1 else shift)), axis * count if len(
        axis
    ) == 1 else axis


def _infer_roll(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    _roll_arguments(attrs, 1)
    shape = unify(ins[0], outs[0])
    if shape is not None:
        for axis in attrs.axis or ():
            normalize_axis(axis, len(shape))
    return [shape], [shape]


def _roll(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.roll(data, *_roll_arguments(attrs, 1))


def _roll_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    shift, axis = _roll_arguments(node.attrs, -1)
    return F._np_roll(heads[0], shift=shift, axis=axis)


def _plane(attrs: Attrs, ndim: int) -> tuple[int, int]:
    axes = attrs.axes or (0, 1)
    if len(axes) != 2 or ndim < 2:
        raise MXNetError(f"a rotation needs two axes, got `axes` {axes} for an array of {ndim} dimensions")
    first, second = (normalize_axis(a, ndim, "axes") for a in axes)
    if first == second:
        raise MXNetError(f"the two axes of a rotation must differ, got {axes}")
    return first, second


def _infer_rot90(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    if ins[0] is None:
        return ins, outs
    shape = list(ins[0])
    first, second = _plane(attrs, len(shape))
    if attrs.k % 2:
        shape[first], shape[second] = shape[second], shape[first]
    return ins, [unify(tuple(shape), outs[0])]


def _rot90(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.rot90(data, attrs.k, _plane(attrs, data.ndim))


def _rot90_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._npi_rot90(heads[0], k=-node.attrs.k, axes=node.attrs.axes)


def _infer_flip(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape = unify(ins[0], outs[0])
    if shape is not None:
        for axis in attrs.axis:
            normalize_axis(axis, len(shape))
    return [shape], [shape]


def _flip(xp: Any, attrs: Attrs, data: Any) -> Any:
    return xp.flip(data, tuple({a % data.ndim for a in attrs.axis})) if attrs.axis else data


def _flip_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._npi_flip(heads[0], axis=node.attrs.axis)


# -- atleast_nd --------------------------------------------------------------------------------------------------------
def _lifted(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    if len(shape) >= rank:
        return shape
    if rank == 3 and shape:
        return (1, *shape, 1) if len(shape) == 1 else (*shape, 1)
    return (1,) * (rank - len(shape)) + shape


def _atleast(rank: int) -> OpDef:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        return ins, [out if shape is None else unify(_lifted(shape, rank), out) for shape, out in zip(ins, outs)]

    def kernel(xp: Any, attrs: Attrs, *arrays: Any) -> tuple[Any, ...]:
        return tuple(a.reshape(_lifted(a.shape, rank)) for a in arrays)

    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
        return [F.reshape_like(head, x) for head, x in zip(heads, node.inputs)]

    return OpDef(
        f"_np_atleast_{rank}d", kernel, variadic="num_args", attrs=(Attr("num_args", "int", doc="number of arrays"),),
        outputs=lambda attrs: tuple(f"output{i}" for i in range(attrs.num_args)) if attrs.num_args > 1 else ("output",),
        infer_shape=infer, infer_dtype=lambda attrs, ins, outs: (ins, list(ins)), grad=gradient, view=True,
        doc=f"Every array with at least {rank} axes; further ones have extent 1.",
        samples=(Sample(((),), {"num_args": 1}), Sample(((3,), (2, 3)), {"num_args": 2})),
    )  # fmt: skip


_ORDER = Attr("order", "str", "C", doc="how elements are read and placed: only C, by rows")
_NEWSHAPE = Attr("newshape", "shape", doc="the extents of the result")

OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "_np_reshape", lambda xp, attrs, a: a.reshape(_numpy_target(a.shape, attrs)), inputs=("a",),
        attrs=(_NEWSHAPE, _ORDER), infer_shape=_infer_reshape, grad=like_input, view=True,
        doc="The elements in another shape; one extent may be -1, which follows from the others.",
        samples=(
            Sample(((2, 3, 4),), {"newshape": (6, 4)}), Sample(((2, 3),), {"newshape": -1}),
            Sample(((1,),), {"newshape": ()}), Sample(((0, 3),), {"newshape": (3, 0)}),
            Sample(((2, 3),), {"newshape": (5, 7)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_npx_reshape", lambda xp, attrs, a: a.reshape(_coded_target(a.shape, attrs)), inputs=("a",),
        attrs=(_NEWSHAPE, Attr("reverse", "bool", False, doc="read the codes from the right"), _ORDER),
        infer_shape=_infer_coded_reshape, grad=like_input, aliases=("_npi_reshape",), view=True,
        doc="The elements in another shape. -1 follows from the others, -2 keeps an extent, -3 drops an extent of 1, "
        "-4 keeps all further ones, -5 multiplies two, -6 splits one into the two numbers behind it.",
        samples=(
            Sample(((2, 3, 4),), {"newshape": (-2, -1)}), Sample(((2, 3, 4),), {"newshape": (-5, -2)}),
            Sample(((2, 3, 4),), {"newshape": (-6, 1, 2, -4)}), Sample(((2, 1, 3),), {"newshape": (-2, -3, -2)}),
            Sample(((8, 3, 4),), {"newshape": (-1, -2), "reverse": True}),
            Sample(((2, 3, 4),), {"newshape": (-2, -3, -4)}, error="MXNetError"),
        ),
    ),
    _reordered(
        "_np_transpose", _transpose_order,
        (Attr("axes", "shape?", None, doc="the order of the axes; reversed by default"),),
        "The array with its axes in another order.",
        (Sample(((2, 3, 4),)), Sample(((2, 3, 4),), {"axes": (1, 0, 2)}), Sample(((),)),
         Sample(((2, 3, 4),), {"axes": (0, 1)}, error="MXNetError")),
    ),
    _reordered(
        "_np_moveaxis", _moved,
        (Attr("source", "shape", doc="the axes to move"), Attr("destination", "shape", doc="where they go")),
        "The array with some axes at other places; the others keep their order.",
        (Sample(((2, 3, 4),), {"source": 0, "destination": -1}),
         Sample(((2, 3, 4),), {"source": (0, 1), "destination": (-1, 0)}),
         Sample(((2, 3),), {"source": (0, 0), "destination": (0, 1)}, error="MXNetError")),
    ),
    OpDef(
        "_np_squeeze", lambda xp, attrs, a: a.reshape(_squeezed(attrs, a.shape)), inputs=("a",),
        attrs=(Attr("axis", "shape?", None, doc="the axes to drop; all of extent 1 by default"),),
        infer_shape=_infer_squeeze, grad=like_input, view=True, doc="The array without axes of extent 1.",
        samples=(
            Sample(((1, 2, 1),)), Sample(((1, 2, 1),), {"axis": 2}), Sample(((1,),)),
            Sample(((1, 2, 1),), {"axis": 1}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_broadcast_to", lambda xp, attrs, array: xp.broadcast_to(array, attrs.shape), inputs=("array",),
        attrs=(Attr("shape", "shape", (), doc="the extents of the result"),), infer_shape=_infer_broadcast_to,
        grad=_broadcast_to_gradient, view=True, doc="The array repeated to `shape` by numpy's broadcasting.",
        samples=(
            Sample(((3,),), {"shape": (2, 3)}), Sample(((2, 1),), {"shape": (4, 2, 3)}), Sample(((),), {"shape": (2,)}),
            Sample(((2, 3),), {"shape": (2, 4)}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_np_roll", _roll,
        attrs=(Attr("shift", "shape?", None, doc="by how many places; one number for each axis, or one for all"),
               Attr("axis", "shape?", None, doc="the axes to roll; the flattened array by default")),
        infer_shape=_infer_roll, grad=_roll_gradient,
        doc="The elements moved along, those that leave coming back in front.",
        samples=(
            Sample(((2, 3),), {"shift": 1}), Sample(((2, 3),), {"shift": (1, -1), "axis": (0, 1)}),
            Sample(((0, 3),), {"shift": 2, "axis": 1}), Sample(((2, 3),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_rot90", _rot90,
        attrs=(Attr("k", "int", 1, doc="how many quarter turns"),
               Attr("axes", "shape?", None, doc="the plane, from the first axis to the second; (0, 1) by default")),
        infer_shape=_infer_rot90, grad=_rot90_gradient, view=True, doc="The array turned by quarters in a plane.",
        samples=(
            Sample(((2, 3),)), Sample(((2, 3, 4),), {"k": 3, "axes": (1, 2)}), Sample(((2, 3),), {"k": -2}),
            Sample(((3,),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_flip", _flip, attrs=(Attr("axis", "shape", doc="the axes to turn round"),), infer_shape=_infer_flip,
        grad=_flip_gradient, view=True, doc="The elements in reverse order along some axes.",
        samples=(
            Sample(((2, 3, 4),), {"axis": 1}), Sample(((2, 3, 4),), {"axis": (0, -1)}), Sample(((0, 2),), {"axis": 0}),
            Sample(((2, 3),), {"axis": 2}, error="MXNetError"),
        ),
    ),
    *map(_atleast, (1, 2, 3)),
)  # fmt: skip
