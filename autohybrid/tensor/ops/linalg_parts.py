"""linalg.extractdiag, makediag, extracttrian and maketrian, and the small matrix operators that gradients use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.linalg import matrix_shape, same_real
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import unify

_OFFSET = Attr("offset", "int", 0)
_LOWER = Attr("lower", "bool", True)


def _extractdiag_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = ins[0]
    if a is None:
        return ins, outs
    matrix_shape("A", a, square=True)
    return ins, [unify((*a[:-2], _left(attrs, a)), outs[0])]


def _left(attrs: Attrs, a: tuple[int, ...]) -> int:
    """How many entries the diagonal with this offset has."""
    if a[-1] == -1:
        return -1
    if abs(attrs.offset) >= a[-1]:
        raise MXNetError(f"`offset` {attrs.offset} lies outside a matrix of {a[-1]} rows")
    return int(a[-1] - abs(attrs.offset))


def _makediag_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    if not ins[0]:
        raise MXNetError("`A` must have at least one dimension")
    n = -1 if ins[0][-1] == -1 else ins[0][-1] + abs(attrs.offset)
    return ins, [unify((*ins[0][:-1], n, n), outs[0])]


def _extractdiag(xp: Any, attrs: Attrs, a: Any) -> Any:
    return xp.diagonal(a, offset=attrs.offset, axis1=-2, axis2=-1).copy()


def _makediag(xp: Any, attrs: Attrs, a: Any) -> Any:
    n = a.shape[-1] + abs(attrs.offset)
    result = xp.zeros((*a.shape[:-1], n, n), dtype=a.dtype)
    steps = xp.arange(a.shape[-1])
    result[..., steps + max(-attrs.offset, 0), steps + max(attrs.offset, 0)] = a
    return result


def _effective(attrs: Attrs) -> tuple[int, bool]:
    """The offset, and whether the lower triangle is meant: a nonzero offset decides by its sign."""
    return attrs.offset, attrs.lower if attrs.offset == 0 else attrs.offset < 0


def _extracttrian_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = ins[0]
    if a is None:
        return ins, outs
    matrix_shape("A", a, square=True)
    n = _left(attrs, a)
    return ins, [unify((*a[:-2], -1 if n == -1 else n * (n + 1) // 2), outs[0])]


def _side(attrs: Attrs, count: int) -> int:
    """The rows of the matrix whose triangle has `count` entries."""
    n = (math.isqrt(8 * count + 1) - 1) // 2
    if n * (n + 1) // 2 != count or count == 0:
        raise MXNetError(
            f"the last extent {count} of `A` is not the number of entries of a triangle (1, 3, 6, 10, ...)"
        )
    return int(n + abs(attrs.offset))


def _maketrian_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    if not ins[0]:
        raise MXNetError("`A` must have at least one dimension")
    n = -1 if ins[0][-1] == -1 else _side(attrs, ins[0][-1])
    return ins, [unify((*ins[0][:-1], n, n), outs[0])]


def _triangle_index(xp: Any, attrs: Attrs, n: int) -> tuple[Any, Any]:
    """Rows and columns of the entries: a lower triangle goes row by row, an upper one column by column."""
    offset, lower = _effective(attrs)
    outer, inner = xp.indices((n, n))
    outer, inner = xp.nonzero(inner - outer <= (offset if lower else -offset))
    return (outer, inner) if lower else (inner, outer)


def _extracttrian(xp: Any, attrs: Attrs, a: Any) -> Any:
    rows, columns = _triangle_index(xp, attrs, a.shape[-1])
    return a[..., rows, columns]


def _maketrian(xp: Any, attrs: Attrs, a: Any) -> Any:
    n = _side(attrs, a.shape[-1])
    result = xp.zeros((*a.shape[:-1], n, n), dtype=a.dtype)
    rows, columns = _triangle_index(xp, attrs, n)
    result[..., rows, columns] = a
    return result


def _triangle_settings(attrs: Attrs) -> dict[str, Any]:
    return {"offset": attrs.offset, "lower": attrs.lower}


# -- for gradients -----------------------------------------------------------------------------------------------------


def _triangle(xp: Any, attrs: Attrs, a: Any) -> Any:
    return xp.tril(a, attrs.offset) if attrs.lower else xp.triu(a, attrs.offset)


def _transposed_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    return ins, [unify((*ins[0][:-2], ins[0][-1], ins[0][-2]), outs[0])]


def _scale_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = unify(ins[1], outs[0])
    return [ins[0], a], [a]


def _scale(xp: Any, attrs: Attrs, factor: Any, a: Any) -> Any:
    return factor.reshape(*a.shape[:-2], 1, 1) * a


def _scale_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    factor, a = node.inputs
    return [F._matrix_inner(heads[0], a), F._scale_matrices(factor, heads[0])]


def _inner_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = unify(ins[0], ins[1])
    return [a, a], [outs[0] if a is None else unify(a[:-2] or (1,), outs[0])]


def _inner(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return (a * b).sum(axis=(-2, -1)).reshape(a.shape[:-2] or (1,))


def _inner_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    return [F._scale_matrices(heads[0], b), F._scale_matrices(heads[0], a)]


_SQUARES = (
    Sample(((3, 3),)),
    Sample(((2, 4, 4),), {"offset": 1}),
    Sample(((4, 4),), {"offset": -2}),
    Sample(((1, 1),)),
    Sample(((0, 2, 2),)),
    Sample(((2, 3),), error="MXNetError"),
)

OPERATORS = (
    OpDef(
        "_linalg_extractdiag",
        _extractdiag,
        inputs=("A",),
        attrs=(_OFFSET,),
        infer_shape=_extractdiag_shape,
        infer_dtype=same_real,
        grad=lambda F, node, heads: F._linalg_makediag(heads[0], offset=node.attrs.offset),
        aliases=("linalg_extractdiag",),
        doc="The diagonal of each square matrix, `offset` above (or below) the main one.",
        samples=_SQUARES,
    ),
    OpDef(
        "_linalg_makediag",
        _makediag,
        inputs=("A",),
        attrs=(_OFFSET,),
        infer_shape=_makediag_shape,
        infer_dtype=same_real,
        grad=lambda F, node, heads: F._linalg_extractdiag(heads[0], offset=node.attrs.offset),
        aliases=("linalg_makediag",),
        doc="Square matrices with the vectors (the last axis) as diagonal `offset`, zeros elsewhere.",
        samples=(
            Sample(((3,),)),
            Sample(((2, 3),), {"offset": 1}),
            Sample(((2, 2),), {"offset": -1}),
            Sample(((0, 2),)),
        ),
    ),
    OpDef(
        "_linalg_extracttrian",
        _extracttrian,
        inputs=("A",),
        attrs=(_OFFSET, _LOWER),
        infer_shape=_extracttrian_shape,
        infer_dtype=same_real,
        grad=lambda F, node, heads: F._linalg_maketrian(heads[0], **_triangle_settings(node.attrs)),
        aliases=("linalg_extracttrian",),
        doc="""The lower (or upper) triangle of each square matrix as a vector (row by row; upper column by
        column); a nonzero `offset` decides by its sign.""",
        samples=(*_SQUARES, Sample(((3, 3),), {"lower": False})),
    ),
    OpDef(
        "_linalg_maketrian",
        _maketrian,
        inputs=("A",),
        attrs=(_OFFSET, _LOWER),
        infer_shape=_maketrian_shape,
        infer_dtype=same_real,
        grad=lambda F, node, heads: F._linalg_extracttrian(heads[0], **_triangle_settings(node.attrs)),
        aliases=("linalg_maketrian",),
        doc="Square matrices from the entries of their triangles, the inverse of extracttrian; zeros elsewhere.",
        samples=(
            Sample(((6,),)),
            Sample(((2, 3),), {"offset": 1}),
            Sample(((2, 3),), {"lower": False}),
            Sample(((0, 3),)),
            Sample(((4,),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_matrix_triangle",
        _triangle,
        attrs=(_OFFSET, _LOWER),
        grad=lambda F, node, heads: F._matrix_triangle(heads[0], **_triangle_settings(node.attrs)),
        doc="Each matrix with zeros above (or below) its diagonal `offset`.",
        samples=(Sample(((2, 3, 4),)), Sample(((3, 3),), {"offset": -1, "lower": False})),
    ),
    OpDef(
        "_matrix_transpose",
        lambda xp, attrs, a: a.swapaxes(-1, -2).copy(),
        infer_shape=_transposed_shape,
        grad=lambda F, node, heads: F._matrix_transpose(heads[0]),
        doc="Each matrix transposed.",
        samples=(Sample(((2, 3, 4),)),),
    ),
    OpDef(
        "_scale_matrices",
        _scale,
        inputs=("factor", "A"),
        infer_shape=_scale_shape,
        grad=_scale_grad,
        doc="Each matrix of a stack times its own factor; a single matrix takes a factor of shape (1,).",
        samples=(Sample(((2,), (2, 3, 4))), Sample(((1,), (3, 3)))),
    ),
    OpDef(
        "_matrix_inner",
        _inner,
        inputs=("A", "B"),
        infer_shape=_inner_shape,
        grad=_inner_grad,
        doc="""The sum of the products of the entries of two matrices, for each pair of a stack; (1,) for a single
        pair.""",
        samples=(Sample(((2, 3, 4), (2, 3, 4))), Sample(((3, 3), (3, 3)))),
    ),
)
