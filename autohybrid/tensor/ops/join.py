"""Operators that join arrays: Concat, stack. Their inverses are in `split.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis, unify

_COUNT = Attr("num_args", "int", doc="number of arrays")


# -- Concat ----------------------------------------------------------------------------------------------------------
def _without(shape: Shape, axis: int) -> Shape:
    """`shape` with the extent at `axis` left open."""
    return None if shape is None else (*shape[:axis], -1, *shape[axis + 1 :])


def _with(shape: Shape, axis: int, extent: int) -> Shape:
    return None if shape is None else (*shape[:axis], extent, *shape[axis + 1 :])


def _infer_concat(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    known = next((s for s in (*ins, *outs) if s is not None), None)
    if known is None:
        return ins, outs
    axis = normalize_axis(attrs.dim, len(known), "dim")
    frame: Shape = None
    for shape in (*ins, *outs):
        frame = unify(frame, _without(shape, axis))
    joined = [unify(shape, frame) for shape in ins]
    extents = [-1 if shape is None else shape[axis] for shape in joined]
    total = -1 if -1 in extents else sum(extents)
    out = unify(outs[0], _with(frame, axis, total))
    if out is not None and out[axis] != -1 and extents.count(-1) == 1:
        missing = out[axis] - sum(e for e in extents if e != -1)
        joined = [_with(s, axis, missing) if e == -1 else s for s, e in zip(joined, extents)]
    return joined, [out]


def _concat(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    return xp.concatenate(arrays, axis=attrs.dim)


def _grad_concat(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    parts = F._backward_concat(heads[0], *node.inputs, dim=node.attrs.dim)
    return parts if len(node.inputs) > 1 else [parts]


# Splitting the head like the inputs needs their extents, which a graph knows only once it is bound.
def _part_names(attrs: Attrs) -> tuple[str, ...]:
    return tuple(f"output{i}" for i in range(attrs.num_args - 1))


def _infer_backward_concat(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    parts, whole = _infer_concat(attrs, [unify(i, o) for i, o in zip(ins[1:], outs)], [ins[0]])
    return [whole[0], *parts], parts


def _backward_concat(xp: Any, attrs: Attrs, head: Any, *arrays: Any) -> tuple[Any, ...]:
    axis = attrs.dim % head.ndim
    start, parts = 0, []
    for array in arrays:
        stop = start + array.shape[axis]
        parts.append(head[(slice(None),) * axis + (slice(start, stop),)])
        start = stop
    return tuple(parts)


def _grad_backward_concat(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    return [F.Concat(*heads, dim=node.attrs.dim), *[None] * len(heads)]


# -- stack -----------------------------------------------------------------------------------------------------------
def _infer_stack(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    shape: Shape = None
    for given in ins:
        shape = unify(shape, given)
    if outs[0] is not None:
        at = normalize_axis(attrs.axis, len(outs[0]))
        shape = unify(shape, outs[0][:at] + outs[0][at + 1 :])
    if shape is None:
        return ins, outs
    axis = normalize_axis(attrs.axis, len(shape) + 1)
    return ins, [unify((*shape[:axis], len(ins), *shape[axis:]), outs[0])]  # like MXNet, inputs are not filled in


def _stack(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
    return xp.stack(arrays, axis=attrs.axis)


def _grad_stack(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F.SliceChannel(heads[0], num_outputs=len(node.inputs), axis=node.attrs.axis, squeeze_axis=True)


def _check_count(attrs: Attrs) -> None:
    if attrs.num_args < 1:
        raise MXNetError("at least one array is needed")


def _infer_joined(infer: Any) -> Any:
    def infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        _check_count(attrs)
        return infer(attrs, ins, outs)  # type: ignore[no-any-return]

    return infer_shape


def _cut_rows(attrs: Attrs, ins: Shapes) -> Sequence[int]:
    return range(len(ins)) if ins[0] is not None and attrs.dim % len(ins[0]) else ()


OPERATORS: tuple[OpDef, ...] = (
    OpDef(
        "Concat",
        _concat,
        attrs=(_COUNT, Attr("dim", "int", 1, doc="the axis to join along")),
        variadic="num_args",
        infer_shape=_infer_joined(_infer_concat),
        by_rows=_cut_rows,
        grad=_grad_concat,
        aliases=("concat", "_sparse_concat"),
        doc="The arrays joined along axis `dim` (1 by default, unlike NumPy); all other extents are equal.",
        samples=(
            Sample(((2, 3), (2, 4))),
            Sample(((2, 3), (1, 3), (4, 3)), {"dim": 0}),
            Sample(((2, 3, 1), (2, 3, 2)), {"dim": -1}),
            Sample(((2, 3),)),
            Sample(((2, 0), (2, 3))),
            Sample(((2, 3), (3, 3)), {"dim": 1}, error="MXNetError"),
            Sample(((2, 3), (2, 3)), {"dim": 3}, error="MXNetError"),
        ),
    ),
    OpDef(
        "_rnn_param_concat",
        _concat,
        attrs=(_COUNT, Attr("dim", "int", 1)),
        variadic="num_args",
        infer_shape=_infer_joined(_infer_concat),
        grad=_grad_concat,
        aliases=("_npi_rnn_param_concat",),
        doc="Concat of the flattened parameters of a recurrent layer.",
        samples=(Sample(((3,), (4,)), {"dim": 0}),),
    ),
    OpDef(
        "_backward_concat",
        _backward_concat,
        attrs=(_COUNT, Attr("dim", "int", 1)),
        outputs=_part_names,
        variadic="num_args",
        infer_shape=_infer_backward_concat,
        grad=_grad_backward_concat,
        view=True,
        doc="The gradient of `Concat`: the first array cut along `dim` into parts shaped as the others.",
        samples=(Sample(((2, 7), (2, 3), (2, 4)), {"dim": 1}, nograd=(1, 2)),),
    ),
    OpDef(
        "stack",
        _stack,
        attrs=(_COUNT, Attr("axis", "int", 0, doc="where the new axis goes")),
        variadic="num_args",
        infer_shape=_infer_joined(_infer_stack),
        grad=_grad_stack,
        doc="Arrays of one shape joined along a new axis at `axis`.",
        samples=(
            Sample(((2, 3), (2, 3))),
            Sample(((2, 3), (2, 3), (2, 3)), {"axis": -1}),
            Sample(((4,),), {"axis": 1}),
            Sample(((0, 2), (0, 2))),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
        ),
    ),
)
