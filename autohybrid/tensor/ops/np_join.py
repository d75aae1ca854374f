"""Operators of `mx.np` that join arrays (concatenate, stack, vstack, hstack, dstack, column_stack) or cut one along a
fixed axis (hsplit, dsplit; `split` itself is the classic `_split_v2`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops import join, split
from autohybrid.tensor.shapes import normalize_axis, unify, unify_all

_COUNT = Attr("num_args", "int", doc="number of arrays")
_CLASSIC: dict[str, OpDef] = {op.name: op for module in (join, split) for op in module.OPERATORS}


# -- how each function prepares its arrays, and where it joins them ----------------------------------------------------
def _at_least(rank: int, behind: bool = False) -> Any:
    def prepare(shape: tuple[int, ...]) -> tuple[int, ...]:
        if rank == 3 and len(shape) < 3:
            return (1, *(shape or (1,)), 1) if len(shape) < 2 else (*shape, 1)
        if behind and len(shape) == 1:
            return (*shape, 1)
        return (1,) * (rank - len(shape)) + shape

    return prepare


def _flat(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (-1 if -1 in shape else prod(shape),)


def _plan(joins: str, axis: int | None, shapes: Sequence[tuple[int, ...]]) -> tuple[list[tuple[int, ...]], int]:
    """The shapes in which the arrays are joined, and the axis."""
    if joins == "vstack":
        return [_at_least(2)(s) for s in shapes], 0
    if joins == "dstack":
        return [_at_least(3)(s) for s in shapes], 2
    if joins == "column_stack":
        return [_at_least(2, behind=True)(s) for s in shapes], 1
    if joins == "hstack":
        lifted = [_at_least(1)(s) for s in shapes]
        return lifted, 0 if len(lifted[0]) == 1 else 1
    if axis is None:
        return [_flat(s) for s in shapes], 0
    return list(shapes), normalize_axis(axis, len(shapes[0]))


def _open(shape: tuple[int, ...], axis: int) -> Shape:
    return (*shape[:axis], -1, *shape[axis + 1 :])


def _joined_shape(joins: str, axis: int | None, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    known = [s for s in ins if s is not None]
    if not known:
        return ins, outs
    lifted, place = _plan(joins, axis, known)
    if len({len(s) for s in lifted}) > 1:
        raise MXNetError(f"arrays of shapes {', '.join(map(str, known))} have different numbers of axes")
    frame = unify_all([_open(s, place) for s in lifted])
    assert frame is not None
    extents = [s[place] for s in lifted]
    total = -1 if len(known) < len(ins) or -1 in extents else sum(extents)
    result = unify((*frame[:place], total, *frame[place + 1 :]), outs[0])
    if joins == "concatenate" and axis is not None:
        return [unify(s, frame) for s in ins], [result]
    return ins, [result]


# Cutting the head like the arrays needs their extents, which a graph knows only once it is bound.
def _take_apart(xp: Any, attrs: Attrs, head: Any, *arrays: Any) -> tuple[Any, ...]:
    lifted, axis = _plan(attrs.joins, attrs.axis, [a.shape for a in arrays])
    parts, start = [], 0
    for array, shape in zip(arrays, lifted):
        stop = start + shape[axis]
        parts.append(head[(slice(None),) * axis + (slice(start, stop),)].reshape(array.shape))
        start = stop
    return tuple(parts)


def _infer_apart(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    return [ins[0], *(unify(i, o) for i, o in zip(ins[1:], outs))], [unify(i, o) for i, o in zip(ins[1:], outs)]


def _gradient_apart(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    attrs = node.attrs
    joined = F._npi_concatenate if attrs.joins == "concatenate" else getattr(F, f"_npi_{attrs.joins}")
    axis = {"axis": attrs.axis} if attrs.joins == "concatenate" else {}
    return [joined(*heads, **axis), *[None] * len(heads)]


def _joining(name: str, doc: str, samples: tuple[Sample, ...], axis: Attr | None = None) -> OpDef:
    def place(attrs: Attrs) -> int | None:
        return None if axis is None else attrs.axis

    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        return _joined_shape(name, place(attrs), ins, outs)

    def kernel(xp: Any, attrs: Attrs, *arrays: Any) -> Any:
        lifted, where = _plan(name, place(attrs), [a.shape for a in arrays])
        return xp.concatenate([a.reshape(s) for a, s in zip(arrays, lifted)], axis=where)

    def gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
        parts = F._take_apart(heads[0], *node.inputs, axis=place(node.attrs), joins=name)
        return parts if len(node.inputs) > 1 else [parts]

    return OpDef(
        f"_npi_{name}",
        kernel,
        variadic="num_args",
        attrs=(_COUNT,) if axis is None else (_COUNT, axis),
        outputs=("out" if name in ("concatenate", "hstack", "dstack") else "output",),
        infer_shape=infer,
        grad=gradient,
        doc=doc,
        samples=(*samples, Sample(((2, 3), (3, 4)), {"num_args": 2}, error="MXNetError")),
    )


def _counted(*shapes: tuple[int, ...], **attrs: Any) -> Sample:
    return Sample(shapes, {"num_args": len(shapes), **attrs})


def _cutting(name: str, axis: int) -> OpDef:
    base = _CLASSIC["_split_v2"]
    attrs = tuple(replace(a, default=axis) if a.name == "axis" else a for a in base.attrs)
    samples = (
        Sample(((2, 4, 4),), {"indices": (0, 1, 3), "axis": axis}),
        Sample(((2, 4, 4),), {"indices": (), "sections": 2, "axis": axis}),
    )
    return replace(base, name=f"_npi_{name}", attrs=attrs, aliases=(), methods=(), samples=samples)


OPERATORS: tuple[OpDef, ...] = (
    _joining(
        "concatenate",
        "The arrays behind one another along `axis`; with None each flattened first.",
        (
            _counted((2, 3), (2, 4), axis=1),
            _counted((2, 3), (4, 3)),
            _counted((2, 3), (3,), axis=None),
            _counted((2, 3), axis=-1),
        ),
        Attr("axis", "int?", 0, doc="where to join; None joins the flattened arrays"),
    ),
    _joining("vstack", "The arrays below one another: joined along the first of at least two axes.",
             (_counted((2, 3), (1, 3)), _counted((2,), (2,)), _counted((), ()))),
    _joining("hstack", "The arrays side by side: joined along the second axis, of vectors along the first.",
             (_counted((2, 3), (2, 1)), _counted((2,), (3,)), _counted((), ()))),
    _joining("dstack", "The arrays one behind the other: joined along the third of at least three axes.",
             (_counted((2, 3), (2, 3)), _counted((2,), (2,)), _counted((2, 3, 1), (2, 3, 2)))),
    _joining("column_stack", "Vectors as columns, and matrices, side by side.",
             (_counted((2, 3), (2, 1)), _counted((2,), (2,)), _counted((2,), (2, 3)))),
    replace(_CLASSIC["stack"], name="_npi_stack", aliases=(), methods=(),
            samples=(_counted((2, 3), (2, 3)), _counted((2, 3), (2, 3), axis=-1), _counted((), ()))),
    _cutting("hsplit", 1),
    _cutting("dsplit", 2),
    OpDef(
        "_take_apart",
        _take_apart,
        inputs=("head",),
        variadic="num_args",
        attrs=(_COUNT, Attr("axis", "int?", 0), Attr("joins", "enum", "concatenate",
               ("concatenate", "vstack", "hstack", "dstack", "column_stack"))),
        outputs=lambda attrs: tuple(f"output{i}" for i in range(attrs.num_args - 1)),
        infer_shape=_infer_apart,
        grad=_gradient_apart,
        view=True,
        doc="The first array cut into parts shaped as the others: the gradient of joining those.",
        samples=(
            Sample(((2, 7), (2, 3), (2, 4)), {"num_args": 3, "axis": 1}, nograd=(1, 2)),
            Sample(((2, 2), (2,), (2,)), {"num_args": 3, "joins": "vstack"}, nograd=(1, 2)),
        ),
    ),
)  # fmt: skip
