"""dot and batch_dot: products of matrices and of stacks of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.precision import matmul
from autohybrid.tensor.shapes import same_floating, unify, unify_dim
from autohybrid.tensor.templates import is_simple

_ATTRS = (
    Attr("transpose_a", "bool", False),
    Attr("transpose_b", "bool", False),
    Attr("forward_stype", "enum?", None, ("default", "row_sparse", "csr")),
)


def _dot_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return ins, outs
    if not lhs or not rhs:
        raise MXNetError("dot needs arrays with at least one axis")
    if len(lhs) == len(rhs) == 1 and (attrs.transpose_a or attrs.transpose_b):
        raise MXNetError("two vectors cannot be transposed; leave out `transpose_a` and `transpose_b`")
    left = lhs[1:] if attrs.transpose_a else lhs[:-1]
    right = rhs[:-1] if attrs.transpose_b else rhs[1:]
    inner = (lhs[0] if attrs.transpose_a else lhs[-1], rhs[-1] if attrs.transpose_b else rhs[0])
    unify_dim(*inner, lhs, rhs)
    return ins, [unify((*left, *right) or (1,), outs[0])]


def _as_matrices(attrs: Attrs, lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """`lhs` and `rhs` as the two matrices whose product is the result, but for its shape."""
    if attrs.transpose_a:
        lhs = lhs.reshape(lhs.shape[0], math.prod(lhs.shape[1:])).T
    elif lhs.ndim != 2:
        lhs = lhs.reshape(math.prod(lhs.shape[:-1]), lhs.shape[-1])
    if attrs.transpose_b:
        rhs = rhs.reshape(math.prod(rhs.shape[:-1]), rhs.shape[-1]).T
    elif rhs.ndim != 2:
        rhs = rhs.reshape(rhs.shape[0], math.prod(rhs.shape[1:]))
    return lhs, rhs


def _dot(xp: Any, attrs: Attrs, lhs: Any, rhs: Any) -> Any:
    if lhs.ndim == rhs.ndim == 2 and not attrs.transpose_a and not attrs.transpose_b:
        return matmul(xp, lhs, rhs)
    left = lhs.shape[1:] if attrs.transpose_a else lhs.shape[:-1]
    right = rhs.shape[:-1] if attrs.transpose_b else rhs.shape[1:]
    product = matmul(xp, *_as_matrices(attrs, lhs, rhs))
    shape = (*left, *right) or (1,)
    return product if product.shape == shape else product.reshape(shape)


def _fast_dot(call: Any) -> list[str] | None:
    """One product of matrices, into memory where there is some."""
    if not is_simple(call) or [len(shape) for shape in call.shapes] != [2, 2]:
        return None
    flags = (call.attrs.transpose_a, call.attrs.transpose_b)
    left, right = [f"{name}.T" if flag else name for name, flag in zip(call.inputs, flags)]
    name = call.memory()
    return [f"{call.out} = {call.function('matmul')}({left}, {right}{'' if name is None else f', {name}'})"]


def _dot_lhs(xp: Any, attrs: Attrs, head: Any, lhs: Any, rhs: Any) -> Any:
    a, b = _as_matrices(attrs, lhs, rhs)
    head = head.reshape(a.shape[0], b.shape[1])
    return (matmul(xp, b, head.T) if attrs.transpose_a else matmul(xp, head, b.T)).reshape(lhs.shape)


def _dot_rhs(xp: Any, attrs: Attrs, head: Any, lhs: Any, rhs: Any) -> Any:
    a, b = _as_matrices(attrs, lhs, rhs)
    head = head.reshape(a.shape[0], b.shape[1])
    return (matmul(xp, head.T, a) if attrs.transpose_b else matmul(xp, a.T, head)).reshape(rhs.shape)


def _flags(attrs: Attrs) -> dict[str, bool]:
    return {"transpose_a": attrs.transpose_a, "transpose_b": attrs.transpose_b}


def _dot_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (lhs, rhs), flags = node.inputs, _flags(node.attrs)
    return [
        F._backward_dot_lhs(heads[0], lhs, rhs, **flags) if node.needs(0) else None,
        F._backward_dot_rhs(heads[0], lhs, rhs, **flags) if node.needs(1) else None,
    ]


def _dot_lhs_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, _, rhs), flags = node.inputs, _flags(node.attrs)
    return [F.dot(heads[0], rhs, **flags), None, F._backward_dot_rhs(head, heads[0], rhs, **flags)]


def _dot_rhs_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (head, lhs, _), flags = node.inputs, _flags(node.attrs)
    return [F.dot(lhs, heads[0], **flags), F._backward_dot_lhs(head, lhs, heads[0], **flags), None]


def _shape_of(position: int) -> Any:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
        return ins, [unify(ins[position], outs[0])]

    return infer


def _batch_dot_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return ins, outs
    if len(lhs) != len(rhs) or len(lhs) < 3:
        raise MXNetError(f"batch_dot needs two arrays of the same 3 or more dimensions, got {lhs} and {rhs}")
    batch = unify(lhs[:-2], rhs[:-2])
    assert batch is not None
    rows, inner = (lhs[-1], lhs[-2]) if attrs.transpose_a else lhs[-2:]
    other, columns = (rhs[-1], rhs[-2]) if attrs.transpose_b else rhs[-2:]
    unify_dim(inner, other, lhs, rhs)
    return ins, [unify((*batch, rows, columns), outs[0])]


def _batch_dot(xp: Any, attrs: Attrs, lhs: Any, rhs: Any) -> Any:
    a = lhs.swapaxes(-1, -2) if attrs.transpose_a else lhs
    b = rhs.swapaxes(-1, -2) if attrs.transpose_b else rhs
    return matmul(xp, a, b)


def _batch_dot_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    (a, b), h, attrs = node.inputs, heads[0], node.attrs
    left = right = None
    if node.needs(0) and attrs.transpose_a:
        left = F.batch_dot(b, h, transpose_a=attrs.transpose_b, transpose_b=True)
    elif node.needs(0):
        left = F.batch_dot(h, b, transpose_b=not attrs.transpose_b)
    if not node.needs(1):
        return [left, None]
    if attrs.transpose_b:
        right = F.batch_dot(h, a, transpose_a=True, transpose_b=attrs.transpose_a)
    else:
        right = F.batch_dot(a, h, transpose_a=not attrs.transpose_a)
    return [left, right]


def _dot_flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    lhs = ins[0]
    return 0 if not lhs else 2 * math.prod(out) * (lhs[0] if attrs.transpose_a else lhs[-1])


def _batch_dot_flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    lhs = ins[0]
    return 0 if lhs is None else 2 * math.prod(out) * (lhs[-2] if attrs.transpose_a else lhs[-1])


_FLAGS = _ATTRS[:2]

OPERATORS = (
    OpDef(
        "dot",
        _dot,
        inputs=("lhs", "rhs"),
        attrs=_ATTRS,
        infer_shape=_dot_shape,
        infer_dtype=same_floating,
        grad=_dot_grad,
        fast=_fast_dot,
        flops=_dot_flops,
        aliases=("_sparse_dot",),
        methods=("dot",),
        doc="""Product over the last axis of `lhs` and the first of `rhs`: (a..., k) x (k, b...) is (a..., b...).

        `transpose_a` takes the first axis of `lhs`, `transpose_b` the last of `rhs`. Two vectors give shape (1,).""",
        samples=(
            Sample(((3, 5), (5, 2))),
            Sample(((1,), (1,))),
            Sample(((5, 3), (2, 5)), {"transpose_a": True, "transpose_b": True}),
            Sample(((2, 3, 4), (4, 5, 3))),
            Sample(((4, 2, 3), (5, 4)), {"transpose_a": True, "transpose_b": True}),
            Sample(((4,), (4, 3))),
            Sample(((1, 4), (4,))),
            Sample(((0, 4), (4, 3))),
            Sample(((3, 4), (5, 2)), error="MXNetError"),
        ),
    ),
    OpDef(
        "_backward_dot_lhs",
        _dot_lhs,
        inputs=("head", "lhs", "rhs"),
        attrs=_FLAGS,
        infer_shape=_shape_of(1),
        grad=_dot_lhs_grad,
        doc="The gradient of `dot` with respect to `lhs` (of which only the shape matters).",
        samples=(
            Sample(((3, 2), (3, 5), (5, 2))),
            Sample(((1,), (4,), (4,))),
            Sample(((2, 3, 5), (4, 2, 3), (5, 4)), {"transpose_a": True, "transpose_b": True}),
        ),
    ),
    OpDef(
        "_backward_dot_rhs",
        _dot_rhs,
        inputs=("head", "lhs", "rhs"),
        attrs=_FLAGS,
        infer_shape=_shape_of(2),
        grad=_dot_rhs_grad,
        doc="The gradient of `dot` with respect to `rhs` (of which only the shape matters).",
        samples=(
            Sample(((3, 2), (3, 5), (5, 2))),
            Sample(((1,), (4,), (4,))),
            Sample(((2, 3, 5), (4, 2, 3), (5, 4)), {"transpose_a": True, "transpose_b": True}),
        ),
    ),
    OpDef(
        "batch_dot",
        _batch_dot,
        inputs=("lhs", "rhs"),
        attrs=_ATTRS,
        infer_shape=_batch_dot_shape,
        infer_dtype=same_floating,
        grad=_batch_dot_grad,
        by_rows=lambda attrs, ins: (0, 1),
        flops=_batch_dot_flops,
        aliases=("_npx_batch_dot",),
        methods=("batch_dot",),
        doc="Matrix products of two stacks: (..., n, k) x (..., k, m) is (..., n, m); leading axes are equal.",
        samples=(
            Sample(((2, 3, 4), (2, 4, 5))),
            Sample(((1, 1, 1), (1, 1, 1))),
            Sample(((2, 4, 3), (2, 5, 4)), {"transpose_a": True, "transpose_b": True}),
            Sample(((2, 3, 4, 2), (2, 3, 4, 5)), {"transpose_a": True}),
            Sample(((0, 3, 4), (0, 4, 5))),
            Sample(((2, 3, 4), (3, 4, 5)), error="MXNetError"),
        ),
    ),
)
