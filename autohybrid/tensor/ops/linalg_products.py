"""linalg.gemm, gemm2, syrk, trmm and trsm: products and triangular solves of stacks of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.linalg import matrix_shape, require_same_batch, same_real
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import normalize_axis, unify, unify_dim

_FLAGS = (Attr("transpose_a", "bool", False), Attr("transpose_b", "bool", False), Attr("alpha", "float", 1.0))
_AXIS = Attr("axis", "int", -2)


def _rows_axis(attrs: Attrs, ndim: int) -> int:
    axis = normalize_axis(attrs.axis, ndim)
    if axis == ndim - 1:
        raise MXNetError(
            f"`axis` {attrs.axis} is that of the columns, which are the last axis; the rows need another one"
        )
    return axis


def _moved(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape with the axis of the rows moved next to that of the columns."""
    return (*shape[:axis], *shape[axis + 1 : -1], shape[axis], shape[-1])


def _product_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a, b = ins[:2]
    if a is None or b is None:
        return ins, outs
    matrix_shape("A", a)
    if len(a) != len(b):
        raise MXNetError(f"`A` of shape {a} and `B` of shape {b} must have the same number of dimensions")
    axis = _rows_axis(attrs, len(a))
    left, right = _moved(a, axis), _moved(b, axis)
    batch = require_same_batch(left, right)
    rows, inner = left[-2:] if not attrs.transpose_a else left[:-3:-1]
    other, columns = right[-2:] if not attrs.transpose_b else right[:-3:-1]
    unify_dim(inner, other, a, b)
    output = (*batch[:axis], rows, *batch[axis:], columns)
    if len(ins) == 2:
        return ins, [unify(output, outs[0])]
    return [a, b, unify(ins[2], output)], [unify(output, outs[0])]


def _product(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    axis = attrs.axis % a.ndim
    left, right = xp.moveaxis(a, axis, -2), xp.moveaxis(b, axis, -2)
    if attrs.transpose_a:
        left = left.swapaxes(-1, -2)
    if attrs.transpose_b:
        right = right.swapaxes(-1, -2)
    result = xp.matmul(left, right)
    if attrs.alpha != 1:
        result *= result.dtype.type(attrs.alpha)
    return xp.ascontiguousarray(xp.moveaxis(result, -2, axis))


def _gemm(xp: Any, attrs: Attrs, a: Any, b: Any, c: Any) -> Any:
    return _product(xp, attrs, a, b) + c * c.dtype.type(attrs.beta)


def _product_grads(F: Any, attrs: Attrs, a: Any, b: Any, head: Any) -> list[Any]:
    shared = {"alpha": attrs.alpha, "axis": attrs.axis}
    ta, tb = attrs.transpose_a, attrs.transpose_b
    if ta:
        to_a = F._linalg_gemm2(b, head, transpose_a=tb, transpose_b=True, **shared)
    else:
        to_a = F._linalg_gemm2(head, b, transpose_b=not tb, **shared)
    if tb:
        to_b = F._linalg_gemm2(head, a, transpose_a=True, transpose_b=ta, **shared)
    else:
        to_b = F._linalg_gemm2(a, head, transpose_a=not ta, **shared)
    return [to_a, to_b]


def _gemm_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b, _ = node.inputs
    return [*_product_grads(F, node.attrs, a, b, heads[0]), heads[0] * node.attrs.beta]


def _gemm2_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    return _product_grads(F, node.attrs, a, b, heads[0])


def _syrk_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    matrix_shape("A", ins[0])
    size = ins[0][-1] if attrs.transpose else ins[0][-2]
    return ins, [unify((*ins[0][:-2], size, size), outs[0])]


def _syrk(xp: Any, attrs: Attrs, a: Any) -> Any:
    b = a.swapaxes(-1, -2)
    result = xp.matmul(b, a) if attrs.transpose else xp.matmul(a, b)
    result *= result.dtype.type(attrs.alpha)
    return result


def _syrk_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    (a,), attrs = node.inputs, node.attrs
    both = heads[0] + F._matrix_transpose(heads[0])
    if attrs.transpose:
        return F._linalg_gemm2(a, both, alpha=attrs.alpha)
    return F._linalg_gemm2(both, a, alpha=attrs.alpha)


def _triangular_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a, b = ins[0], unify(ins[1], outs[0])
    if a is None or b is None:
        return ins, outs
    matrix_shape("A", a, square=True)
    matrix_shape("B", b)
    if len(a) != len(b):
        raise MXNetError(f"`A` of shape {a} and `B` of shape {b} must have the same number of dimensions")
    require_same_batch(a, b)
    unify_dim(a[-1], b[-1] if attrs.rightside else b[-2], a, b)
    return [a, b], [b]


def _triangle(xp: Any, attrs: Attrs, a: Any) -> Any:
    part = xp.tril(a) if attrs.lower else xp.triu(a)
    return part.swapaxes(-1, -2) if attrs.transpose else part


def _trmm(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    part = _triangle(xp, attrs, a)
    result = xp.matmul(b, part) if attrs.rightside else xp.matmul(part, b)
    result *= result.dtype.type(attrs.alpha)
    return result


def _trsm(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    part = _triangle(xp, attrs, a)
    if attrs.rightside:
        result = xp.linalg.solve(part.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    else:
        result = xp.linalg.solve(part, b)
    return xp.ascontiguousarray(result) * b.dtype.type(attrs.alpha)


def _trmm_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (a, b), head, attrs = node.inputs, heads[0], node.attrs
    # out = op(A) B needs head B^T, with A transposed its transpose B head^T; on the right side B^T head, head^T B.
    first, second = (b, head) if attrs.rightside != attrs.transpose else (head, b)
    flags = {"transpose_a": attrs.rightside, "transpose_b": not attrs.rightside}
    to_a = F._matrix_triangle(F._linalg_gemm2(first, second, alpha=attrs.alpha, **flags), lower=attrs.lower)
    return [to_a, F._linalg_trmm(a, head, **_reversed(attrs))]


def _trsm_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (a, _), output, attrs = node.inputs, node.outputs[0], node.attrs
    to_b = F._linalg_trsm(a, heads[0], **_reversed(attrs))
    # With X the output and G = to_b / alpha: -G X^T, transposed -X G^T; on the right side -X^T G, -G^T X.
    first, second = (output, to_b) if attrs.rightside != attrs.transpose else (to_b, output)
    flags = {"transpose_a": attrs.rightside, "transpose_b": not attrs.rightside}
    to_a = F._linalg_gemm2(first, second, alpha=-1 / attrs.alpha, **flags)
    return [F._matrix_triangle(to_a, lower=attrs.lower), to_b]


def _reversed(attrs: Attrs) -> dict[str, Any]:
    return {
        "transpose": not attrs.transpose,
        "rightside": attrs.rightside,
        "lower": attrs.lower,
        "alpha": attrs.alpha,
    }


_TRIANGULAR = (
    Attr("transpose", "bool", False),
    Attr("rightside", "bool", False),
    Attr("lower", "bool", True),
    Attr("alpha", "float", 1.0),
)
_WELL = [[2.0, 0.3, -0.4], [0.5, 1.5, 0.2], [-0.3, 0.6, 1.8]]
_COMBINATIONS = tuple(
    {"transpose": t, "rightside": r, "lower": lower, "alpha": 0.5}
    for t in (False, True)
    for r in (False, True)
    for lower in (False, True)
)


def _flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    lhs = ins[0]
    if lhs is None:
        return 0
    return 2 * math.prod(out) * (lhs[attrs.axis] if attrs.transpose_a else lhs[-1])


def _triangular_samples() -> tuple[Sample, ...]:
    return (
        *[Sample(((3, 3), (3, 2) if not c["rightside"] else (2, 3)), c, values={0: _WELL}) for c in _COMBINATIONS],
        Sample(((1, 3, 3), (1, 3, 2)), values={0: [_WELL]}),
        Sample(((3, 3), (2, 2)), error="MXNetError"),
    )


OPERATORS = (
    OpDef(
        "_linalg_gemm",
        _gemm,
        inputs=("A", "B", "C"),
        attrs=(*_FLAGS, Attr("beta", "float", 1.0), _AXIS),
        infer_shape=_product_shape,
        infer_dtype=same_real,
        grad=_gemm_grad,
        flops=_flops,
        aliases=("linalg_gemm",),
        doc="alpha op(A) op(B) + beta C for stacks of matrices of equal leading axes; the rows run along `axis`.",
        samples=(
            Sample(((2, 3), (3, 4), (2, 4)), {"alpha": 0.5, "beta": 2.0}),
            Sample(((1, 1), (1, 1), (1, 1))),
            Sample(((2, 4, 3), (2, 2, 4), (2, 3, 2)), {"transpose_a": True, "transpose_b": True}),
            Sample(((3, 2, 4), (4, 2, 5), (3, 2, 5)), {"axis": 0}),
            Sample(((0, 2, 3), (0, 3, 2), (0, 2, 2))),
            Sample(((2, 3), (2, 4), (2, 4)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_linalg_gemm2",
        _product,
        inputs=("A", "B"),
        attrs=(*_FLAGS, _AXIS),
        infer_shape=_product_shape,
        infer_dtype=same_real,
        grad=_gemm2_grad,
        flops=_flops,
        aliases=("linalg_gemm2",),
        doc="alpha op(A) op(B) for stacks of matrices of equal leading axes; the rows run along `axis`.",
        samples=(
            Sample(((2, 3), (3, 4)), {"alpha": 0.5}),
            Sample(((2, 4, 3), (2, 4, 2)), {"transpose_a": True}),
            Sample(((2, 4, 3), (2, 5, 3)), {"transpose_b": True}),
            Sample(((4, 2, 3), (5, 2, 4)), {"transpose_a": True, "transpose_b": True, "axis": 0}),
            Sample(((0, 2, 3), (0, 3, 2))),
            Sample(((2, 3), (2, 4)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_linalg_syrk",
        _syrk,
        inputs=("A",),
        attrs=(_TRIANGULAR[0], _TRIANGULAR[3]),
        infer_shape=_syrk_shape,
        infer_dtype=same_real,
        grad=_syrk_grad,
        aliases=("linalg_syrk",),
        doc="alpha A A^T, or with `transpose` alpha A^T A.",
        samples=(
            Sample(((2, 3),), {"alpha": 0.5}),
            Sample(((2, 3, 4),), {"transpose": True}),
            Sample(((1, 1),)),
            Sample(((0, 2, 3),)),
            Sample(((3,),), error="MXNetError"),
        ),
    ),
    OpDef(
        "_linalg_trmm",
        _trmm,
        inputs=("A", "B"),
        attrs=_TRIANGULAR,
        infer_shape=_triangular_shape,
        infer_dtype=same_real,
        grad=_trmm_grad,
        aliases=("linalg_trmm",),
        doc="""alpha op(A) B, or alpha B op(A) with `rightside`, where A is triangular; its other triangle is not
        read.""",
        samples=_triangular_samples(),
    ),
    OpDef(
        "_linalg_trsm",
        _trsm,
        inputs=("A", "B"),
        attrs=_TRIANGULAR,
        infer_shape=_triangular_shape,
        infer_dtype=same_real,
        grad=_trsm_grad,
        aliases=("linalg_trsm",),
        doc="The X with op(A) X = alpha B, or X op(A) = alpha B with `rightside`, where A is triangular.",
        samples=_triangular_samples(),
    ),
)
