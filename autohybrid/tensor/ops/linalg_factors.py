"""linalg.potrf, potri, inverse, det, slogdet, sumlogdiag, gelqf and syevd: factors and functions of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.linalg import matrix_shape, same_real
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.shapes import same_shape, unify


def _square(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    found = same_shape(attrs, ins, outs)
    if found[0][0] is not None:
        matrix_shape("A", found[0][0], square=True)
    return found


def _one_each(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    matrix_shape("A", ins[0], square=True)
    return ins, [unify(ins[0][:-2] or (1,), out) for out in outs]


def _mirrored(F: Any, x: Any) -> Any:
    """The lower triangle of `x`, copied onto the upper one."""
    return F._matrix_triangle(x) + F._matrix_transpose(F._matrix_triangle(x, offset=-1))


#: MXNet's lists of attributes leave it out, and its operators heed it.
_LOWER = Attr("lower", "bool", True, doc="whether the triangular matrix is the lower one, L; else its transpose")


def _lower_one(F: Any, node: GradNode, x: Any) -> Any:
    """A factor or its gradient as it would be with `lower=True`, and the way back."""
    return x if node.attrs.lower else F._matrix_transpose(x)


def _potrf(xp: Any, attrs: Attrs, a: Any) -> Any:
    factor = xp.linalg.cholesky(a)
    return factor if attrs.lower else xp.ascontiguousarray(factor.swapaxes(-1, -2))


def _potrf_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    factor, head = (_lower_one(F, node, x) for x in (node.outputs[0], heads[0]))
    middle = _mirrored(F, F._linalg_gemm2(factor, F._matrix_triangle(head), transpose_a=True))
    half = F._linalg_trsm(factor, middle, transpose=True)
    return F._linalg_trsm(factor, half, rightside=True, alpha=0.5)


def _potri(xp: Any, attrs: Attrs, a: Any) -> Any:
    inverse = xp.linalg.inv(xp.tril(a if attrs.lower else a.swapaxes(-1, -2)))
    return xp.matmul(inverse.swapaxes(-1, -2), inverse)


def _potri_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    factor, inverse = _lower_one(F, node, node.inputs[0]), node.outputs[0]
    both = F._linalg_gemm2(inverse, heads[0] + F._matrix_transpose(heads[0]))
    found = F._matrix_triangle(F._linalg_trsm(factor, both, transpose=True, rightside=True, alpha=-1.0))
    return _lower_one(F, node, found)


def _inverse_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    inverse = node.outputs[0]
    inner = F._linalg_gemm2(inverse, heads[0], transpose_a=True, alpha=-1.0)
    return F._linalg_gemm2(inner, inverse, transpose_b=True)


def _det(xp: Any, attrs: Attrs, a: Any) -> Any:
    return xp.linalg.det(a).reshape(a.shape[:-2] or (1,)).astype(a.dtype, copy=False)


def _det_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._scale_matrices(heads[0] * node.outputs[0], F._matrix_transpose(F._linalg_inverse(node.inputs[0])))


def _slogdet(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, Any]:
    sign, logarithm = xp.linalg.slogdet(a)
    shape = a.shape[:-2] or (1,)
    return xp.asarray(sign, dtype=a.dtype).reshape(shape), xp.asarray(logarithm, dtype=a.dtype).reshape(shape)


def _slogdet_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._scale_matrices(heads[1], F._matrix_transpose(F._linalg_inverse(node.inputs[0])))


def _sumlogdiag(xp: Any, attrs: Attrs, a: Any) -> Any:
    diagonal = xp.diagonal(a, axis1=-2, axis2=-1)
    return xp.log(diagonal).sum(axis=-1).reshape(a.shape[:-2] or (1,))


def _sumlogdiag_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    return F._scale_matrices(heads[0], F._linalg_makediag(1 / F._linalg_extractdiag(node.inputs[0])))


def _gelqf_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = unify(ins[0], outs[0])
    if a is None:
        return ins, outs
    matrix_shape("A", a)
    if -1 not in a[-2:] and a[-2] > a[-1]:
        raise MXNetError(f"`A` must have at least as many columns as rows, got shape {a}")
    return [a], [a, unify((*a[:-1], a[-2]), outs[1])]


def _gelqf(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, Any]:
    q, r = xp.linalg.qr(a.swapaxes(-1, -2))
    return xp.ascontiguousarray(q.swapaxes(-1, -2)), xp.ascontiguousarray(r.swapaxes(-1, -2))


def _gelqf_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    q, factor = node.outputs
    to_q, to_factor = heads
    middle = F._linalg_gemm2(factor, F._matrix_triangle(to_factor), transpose_a=True)
    middle = middle - F._linalg_gemm2(to_q, q, transpose_b=True)
    return F._linalg_trsm(factor, to_q + F._linalg_gemm2(_mirrored(F, middle), q), transpose=True)


def _syevd_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    a = unify(ins[0], outs[0])
    if a is None:
        return ins, outs
    matrix_shape("A", a, square=True)
    return [a], [a, unify(a[:-1], outs[1])]


def _syevd(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, Any]:
    values, vectors = xp.linalg.eigh(a)
    rows = xp.ascontiguousarray(vectors.swapaxes(-1, -2))
    # The sign of an eigenvector is free; its largest entry is made positive.
    peak = xp.argmax(xp.abs(rows), axis=-1)[..., None]
    sign = xp.where(xp.take_along_axis(rows, peak, axis=-1) < 0, -1, 1).astype(a.dtype)
    return rows * sign, values


def _syevd_grad(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    vectors, values = node.outputs
    to_vectors, to_values = heads
    gap = F.broadcast_sub(F.expand_dims(values, axis=-2), F.expand_dims(values, axis=-1))
    turning = F._linalg_gemm2(vectors, to_vectors, transpose_b=True) * (gap / (gap * gap + (gap == 0)))
    middle = (turning + F._matrix_transpose(turning)) * 0.5 + F._linalg_makediag(to_values)
    return F._linalg_gemm2(F._linalg_gemm2(vectors, middle, transpose_a=True), vectors)


_POSITIVE = [[2.0, 0.5, 0.3], [0.5, 1.5, -0.2], [0.3, -0.2, 1.0]]
_GENERAL = [[2.0, 0.3, -0.4], [0.5, -1.5, 0.2], [-0.3, 0.6, 1.8]]


def _record(
    name: str, kernel: Any, grad: Any, doc: str, matrix: list[list[float]], symmetric: bool = False, **more: Any
) -> OpDef:
    """`symmetric`: differences of single entries, which leave the symmetric matrices, cannot check the gradient."""
    settings: dict[str, Any] = {"infer_shape": _square, **more}
    nograd = (0,) if symmetric else ()
    return OpDef(
        f"_linalg_{name}",
        kernel,
        inputs=("A",),
        infer_dtype=same_real,
        grad=grad,
        doc=doc,
        samples=(
            Sample(((3, 3),), values={0: matrix}, nograd=nograd),
            Sample(((2, 3, 3),), values={0: [matrix, [[2 * v for v in row] for row in matrix]]}, nograd=nograd),
            Sample(((1, 1),), low=0.5, high=2),
            Sample(((0, 2, 2),)),
            Sample(((3,),), error="MXNetError"),
        ),
        **settings,
    )


OPERATORS = (
    _record(
        "potrf",
        _potrf,
        _potrf_grad,
        """The lower triangular L with A = L L^T of a symmetric positive definite A; L^T with `lower=False`.""",
        _POSITIVE,
        True,
        attrs=(_LOWER,),
        aliases=("linalg_potrf",),
    ),
    _record(
        "potri",
        _potri,
        _potri_grad,
        "The inverse of L L^T, where A holds the lower triangular L, or L^T with `lower=False`.",
        _GENERAL,
        attrs=(_LOWER,),
        aliases=("linalg_potri",),
    ),
    _record(
        "inverse",
        lambda xp, attrs, a: xp.linalg.inv(a),
        _inverse_grad,
        "The inverse of each matrix.",
        _GENERAL,
        aliases=("_npi_inv", "linalg_inverse"),
    ),
    _record(
        "det",
        _det,
        _det_grad,
        "The determinant of each matrix; shape (1,) for a single one.",
        _GENERAL,
        infer_shape=_one_each,
        outputs=("output0",),
        stored_outputs=lambda attrs: 3,
        aliases=("linalg_det",),
    ),
    _record(
        "slogdet",
        _slogdet,
        _slogdet_grad,
        "Sign and logarithm of the absolute value of the determinant.",
        _GENERAL,
        infer_shape=_one_each,
        outputs=("output0", "output1"),
        stored_outputs=lambda attrs: 4,
        aliases=("linalg_slogdet",),
    ),
    _record(
        "sumlogdiag",
        _sumlogdiag,
        _sumlogdiag_grad,
        "The sum of the logarithms of the diagonal of each matrix.",
        _POSITIVE,
        infer_shape=_one_each,
        aliases=("linalg_sumlogdiag",),
    ),
    _record(
        "gelqf",
        _gelqf,
        _gelqf_grad,
        "Q with orthonormal rows and lower triangular L, A = L Q.",
        _GENERAL,
        infer_shape=_gelqf_shape,
        outputs=("output0", "output1"),
        aliases=("linalg_gelqf",),
    ),
    _record(
        "syevd",
        _syevd,
        _syevd_grad,
        """Eigenvectors (rows of U) and eigenvalues, ascending, A = U^T diag(L) U of a symmetric A.""",
        _POSITIVE,
        True,
        infer_shape=_syevd_shape,
        outputs=("output0", "output1"),
    ),
)
