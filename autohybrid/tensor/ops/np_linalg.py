"""Linear algebra of `mx.np.linalg`: det, norm, cholesky, solve, pinv, svd, eigenvalues, tensorinv, tensorsolve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.linalg import matrix_shape, same_real
from autohybrid.tensor.opdef import Dtypes, Gradient, GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.ops import linalg_factors
from autohybrid.tensor.ops.np_reductions import infer_reduced, reduced_axes, spread
from autohybrid.tensor.shapes import unify

_CLASSIC: dict[str, OpDef] = {op.name: op for op in linalg_factors.OPERATORS}
_POSITIVE = [[2.0, 0.5, 0.3], [0.5, 1.5, -0.2], [0.3, -0.2, 1.0]]
_GENERAL = [[2.0, 0.3, -0.4], [0.5, -1.5, 0.2], [-0.3, 0.6, 1.8]]
_WIDE = [[2.0, 0.3, -0.4], [0.5, -1.5, 0.2]]


# -- det, slogdet ----------------------------------------------------------------------------------------------------
def _one_each(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    if ins[0] is None:
        return ins, outs
    matrix_shape("A", ins[0], square=True)
    return ins, [unify(ins[0][:-2], out) for out in outs]


def _det(xp: Any, attrs: Attrs, a: Any) -> Any:
    return xp.asarray(xp.linalg.det(a)).astype(a.dtype, copy=False)


def _slogdet(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, ...]:
    return tuple(xp.asarray(part, dtype=a.dtype) for part in xp.linalg.slogdet(a))


def _without_axes(name: str, kernel: Callable[..., Any]) -> OpDef:
    """The classic operator, whose result for one matrix has no axes here."""
    base = _CLASSIC[f"_linalg_{name}"]
    return replace(base, name=f"_npi_{name}", kernel=kernel, infer_shape=_one_each, aliases=(), stored_as=base.name)


# -- norm ------------------------------------------------------------------------------------------------------------
def _norm(xp: Any, attrs: Attrs, x: Any) -> Any:
    axes = reduced_axes(attrs.axis, x.ndim)
    wide = x.astype("float32") if x.dtype.kind != "f" or x.dtype.itemsize == 2 else x
    if attrs.flag in (0, 2) and len(axes) == 2:  # of matrices, by singular values
        found = xp.linalg.norm(wide, ord="nuc" if attrs.flag == 2 else attrs.ord, axis=axes, keepdims=attrs.keepdims)
    elif attrs.ord == 0 and attrs.flag == -1:
        found = (wide != 0).sum(axis=axes, keepdims=attrs.keepdims)
    else:
        power = attrs.ord if attrs.flag == -1 else 2.0
        total = (xp.absolute(wide) ** power).sum(axis=axes, keepdims=attrs.keepdims)
        found = xp.sqrt(total) if power == 2 else total ** (1 / power)
    return xp.asarray(found).astype(x.dtype, copy=False)


def _norm_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    attrs, x = node.attrs, node.inputs[0]
    if attrs.flag in (0, 2) and len(reduced_axes(attrs.axis, x.ndim)) == 2:
        raise MXNetError(f"the norm by singular values (ord={attrs.ord}) has no gradient here")
    power = attrs.ord if attrs.flag == -1 else 2.0
    if power == 0:
        return F.zeros_like(x)
    out = spread(F, node, node.outputs[0])
    head = spread(F, node, heads[0])
    if power == 2:
        return F._npi_multiply(head, F._npi_true_divide(x, out))
    ratio = F._npi_power_scalar(F._npi_true_divide(F._npi_absolute(x), out), scalar=power - 1)
    return F._npi_multiply(F._npi_multiply(head, F._npi_sign(x)), ratio)


# -- solve, pinv, tensorinv, tensorsolve -------------------------------------------------------------------------------
def _infer_solve(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a, b = ins
    if a is None or b is None:
        return ins, outs
    matrix_shape("A", a, square=True)
    rows = b[-1] if len(b) == 1 else b[-2] if len(b) else -1
    if not b or (rows != a[-1] and -1 not in (rows, a[-1])):
        raise MXNetError(f"the right side of shape {b} does not fit a matrix of shape {a}")
    return ins, [unify(b if len(b) == 1 else (*a[:-2], *b[-2:]), outs[0])]


def _solve(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    return xp.linalg.solve(a, b[:, None])[:, 0] if b.ndim == 1 else xp.linalg.solve(a, b)


def _solve_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    by_b = F._npi_solve(F.SwapAxis(a, dim1=a.ndim - 2, dim2=a.ndim - 1), heads[0])
    x = node.outputs[0]
    if b.ndim == 1:
        by_a = F._npi_negative(F._npi_tensordot_int_axes(by_b, x, axes=0))
    else:
        by_a = F._npi_negative(F._npi_matmul(by_b, F.SwapAxis(x, dim1=x.ndim - 2, dim2=x.ndim - 1)))
    return [F._unbroadcast(by_a, a), F._unbroadcast(by_b, b)]


def _turned_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a = ins[0]
    if a is None:
        return ins, outs
    matrix_shape("A", a)
    return ins, [unify((*a[:-2], a[-1], a[-2]), outs[0])]


def _pinv(xp: Any, attrs: Attrs, a: Any, *rcond: Any) -> Any:
    cutoff = rcond[0] if rcond else attrs.rcond
    return xp.linalg.pinv(a, cutoff, hermitian=attrs.hermitian) if attrs.hermitian else xp.linalg.pinv(a, cutoff)


def _pinv_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    # Golub and Pereyra: the rank is constant nearby.
    a, p, head = node.inputs[0], node.outputs[0], heads[0]

    def turned(x: Any) -> Any:
        return F.SwapAxis(x, dim1=x.ndim - 2, dim2=x.ndim - 1)

    def product(*matrices: Any) -> Any:
        result = matrices[0]
        for matrix in matrices[1:]:
            result = F._npi_matmul(result, matrix)
        return result

    main = F._npi_negative(product(turned(p), head, turned(p)))
    left = product(turned(p), p, turned(head))
    right = product(turned(head), p, turned(p))
    rows = left - product(left, p, a)
    columns = right - product(a, p, right)
    result = main + rows + columns
    return result if len(node.inputs) == 1 else [result, None]


def _infer_tensorinv(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a = ins[0]
    if a is None:
        return ins, outs
    if not 0 < attrs.ind < len(a) or (-1 not in a and prod(a[: attrs.ind]) != prod(a[attrs.ind :])):
        raise MXNetError(f"`ind` {attrs.ind} does not cut shape {a} into two halves of as many elements")
    return ins, [unify((*a[attrs.ind :], *a[: attrs.ind]), outs[0])]


def _tensorinv(xp: Any, attrs: Attrs, a: Any) -> Any:
    side = prod(a.shape[: attrs.ind])
    return xp.linalg.inv(a.reshape(side, side)).reshape((*a.shape[attrs.ind :], *a.shape[: attrs.ind]))


def _tensorinv_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    out, x = node.outputs[0], node.inputs[0]
    side = prod(x.shape[: node.attrs.ind])
    inverse = F._np_transpose(F._np_reshape(out, newshape=(side, side)))
    head = F._np_reshape(heads[0], newshape=(side, side))
    product = F._npi_matmul(F._npi_matmul(inverse, head), inverse)
    return F.reshape_like(F._npi_negative(product), x)


def _solved_order(attrs: Attrs, ndim: int) -> tuple[int, ...]:
    axes = [a % ndim for a in attrs.a_axes]
    return (*[i for i in range(ndim) if i not in axes], *axes)


def _infer_tensorsolve(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a, b = ins
    if a is None or b is None:
        return ins, outs
    turned = tuple(a[i] for i in _solved_order(attrs, len(a)))
    unknown = turned[len(b) :]
    if -1 not in a and -1 not in b and prod(turned[: len(b)]) != prod(unknown):
        raise MXNetError(f"the tensor of shape {a} is not square beside a right side of shape {b}")
    return ins, [unify(unknown, outs[0])]


def _tensorsolve(xp: Any, attrs: Attrs, a: Any, b: Any) -> Any:
    turned = a.transpose(_solved_order(attrs, a.ndim))
    unknown = turned.shape[b.ndim :]
    return xp.linalg.solve(turned.reshape(b.size, prod(unknown)), b.reshape(-1)).reshape(unknown)


def _tensorsolve_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    a, b = node.inputs
    order = _solved_order(node.attrs, a.ndim)
    turned = F._np_transpose(a, axes=order)
    matrix = F._np_reshape(turned, newshape=(b.size, -1))
    by_b = F._npi_solve(F._np_transpose(matrix), F._np_reshape(heads[0], newshape=(-1,)))
    x = F._np_reshape(node.outputs[0], newshape=(-1,))
    by_a = F.reshape_like(F._npi_negative(F._npi_tensordot_int_axes(by_b, x, axes=0)), turned)
    back = tuple(order.index(i) for i in range(len(order)))
    return [F._np_transpose(by_a, axes=back), F.reshape_like(by_b, b)]


# -- factors ---------------------------------------------------------------------------------------------------------
def _infer_svd(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
    a = ins[0]
    if a is None:
        return ins, outs
    matrix_shape("A", a)
    rows, columns = a[-2:]
    if -1 not in (rows, columns) and rows > columns:
        raise MXNetError(f"`A` must have at least as many columns as rows, got shape {a}")
    wanted = ((*a[:-2], rows, rows), (*a[:-2], rows), a)
    return ins, [unify(w, o) for w, o in zip(wanted, outs)]


def _svd(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, ...]:
    left, values, right = xp.linalg.svd(a, full_matrices=False)
    # The sign of a pair of singular vectors is free; the largest entry of the right one is made positive.
    peak = xp.argmax(xp.abs(right), axis=-1)[..., None]
    sign = xp.where(xp.take_along_axis(right, peak, axis=-1) < 0, -1, 1).astype(a.dtype)
    return left * sign.swapaxes(-1, -2), values, right * sign


def _svd_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    left, values, right = node.outputs
    to_left, to_values, to_right = heads

    def turned(x: Any) -> Any:
        return F.SwapAxis(x, dim1=x.ndim - 2, dim2=x.ndim - 1)

    row, column = F.expand_dims(values, axis=-2), F.expand_dims(values, axis=-1)
    gap = F._npi_subtract(F._npi_square(row), F._npi_square(column))
    inverse = F._npi_true_divide(gap, gap * gap + F._cast_as(F._npi_equal_scalar(gap, scalar=0.0), gap))
    by_right = F._npi_matmul(to_right, turned(right))
    turning = F._npi_matmul(turned(left), to_left)
    first = (turning - turned(turning)) * inverse * row
    second = (turned(by_right) - by_right) * inverse * column
    middle = first + second + F._linalg_makediag(to_values)
    inside = F._npi_matmul(F._npi_matmul(left, middle), right)
    # What of the right vectors' gradient lies outside the space that they span.
    outside = to_right - F._npi_matmul(by_right, right)
    return inside + F._npi_matmul(left, F._npi_true_divide(outside, column))


def _infer_eigen(vectors: bool) -> Callable[..., Any]:
    def infer(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Shapes, Shapes]:
        a = ins[0]
        if a is None:
            return ins, outs
        matrix_shape("A", a, square=True)
        return ins, [unify(a[:-1], outs[0]), *([unify(a, outs[1])] if vectors else [])]

    return infer


def _mirrored(xp: Any, attrs: Attrs, a: Any) -> Any:
    """The symmetric matrix of which one triangle is given."""
    if attrs.UPLO == "L":
        lower = xp.tril(a)
        return lower + xp.tril(a, -1).swapaxes(-1, -2)
    return xp.triu(a) + xp.triu(a, 1).swapaxes(-1, -2)


def _eigh(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, Any]:
    values, vectors = xp.linalg.eigh(_mirrored(xp, attrs, a))
    peak = xp.argmax(xp.abs(vectors), axis=-2)[..., None, :]
    sign = xp.where(xp.take_along_axis(vectors, peak, axis=-2) < 0, -1, 1).astype(a.dtype)
    return values, vectors * sign


def _eigh_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    values, vectors = node.outputs
    to_values, to_vectors = heads
    gap = F._npi_subtract(F.expand_dims(values, axis=-2), F.expand_dims(values, axis=-1))
    inverse = F._npi_true_divide(gap, gap * gap + F._cast_as(F._npi_equal_scalar(gap, scalar=0.0), gap))
    across = F.SwapAxis(vectors, dim1=vectors.ndim - 2, dim2=vectors.ndim - 1)
    middle = F._npi_matmul(across, to_vectors) * inverse + F._linalg_makediag(to_values)
    return F._npi_matmul(F._npi_matmul(vectors, middle), across)


def _eigvalsh_gradient(F: Any, node: GradNode, heads: Sequence[Any]) -> Any:
    _, vectors = F._npi_eigh(node.inputs[0], UPLO=node.attrs.UPLO)
    across = F.SwapAxis(vectors, dim1=vectors.ndim - 2, dim2=vectors.ndim - 1)
    return F._npi_matmul(F._npi_matmul(vectors, F._linalg_makediag(heads[0])), across)


def _real(found: Any, a: Any) -> Any:
    """Eigenvalues or vectors as real numbers. Raises MXNetError when they are not."""
    if found.dtype.kind == "c":
        if abs(found.imag).max(initial=0) > 0:
            raise MXNetError("the matrix has complex eigenvalues, which no array here can hold")
        found = found.real
    return found.astype(a.dtype, copy=False)


def _eig(xp: Any, attrs: Attrs, a: Any) -> tuple[Any, Any]:
    values, vectors = xp.linalg.eig(a)
    return _real(values, a), _real(vectors, a)


def _record(
    name: str, kernel: Callable[..., Any], gradient: Gradient | None, doc: str, matrix: list[list[float]], **more: Any
) -> OpDef:
    """`checked=False`: differences of single entries, which leave the symmetric matrices, cannot check the gradient."""
    nograd = () if more.pop("checked", True) else (0,)
    stacked = [matrix, [[2 * v for v in row] for row in matrix]]
    shape = (len(matrix), len(matrix[0]))
    return OpDef(
        f"_npi_{name}", kernel, inputs=("A",), infer_dtype=same_real, grad=gradient, doc=doc,
        samples=(
            Sample((shape,), values={0: matrix}, nograd=nograd),
            Sample(((2, *shape),), values={0: stacked}, nograd=nograd),
            Sample(((3,),), error="MXNetError"),
        ),
        **more,
    )  # fmt: skip


def _norm_dtype(attrs: Attrs, ins: Dtypes, outs: Dtypes) -> tuple[Dtypes, Dtypes]:
    dtype = ins[0] or outs[0]
    return [dtype], [dtype]


_UPLO = (Attr("UPLO", "enum", "L", ("L", "U"), doc="which triangle is read"),)
_HERMITIAN = Attr("hermitian", "bool", False, doc="whether the matrices are symmetric")

OPERATORS: tuple[OpDef, ...] = (
    _without_axes("det", _det),
    _without_axes("slogdet", _slogdet),
    replace(_CLASSIC["_linalg_potrf"], name="_npi_cholesky", aliases=()),
    OpDef(
        "_npi_norm", _norm,
        attrs=(Attr("ord", "float", 2.0), Attr("axis", "shape?", None), Attr("keepdims", "bool", False),
               Attr("flag", "int", -1, doc="-1: of vectors by `ord`; -2, 1: square root of the sum of squares; 0, 2: "
                    "of matrices by singular values")),
        outputs=("output0",), infer_shape=infer_reduced, infer_dtype=_norm_dtype, grad=_norm_gradient,
        stored_outputs=lambda attrs: 4,
        doc="The norm of vectors or matrices along `axis`.",
        samples=(
            Sample(((2, 3),)), Sample(((2, 3),), {"axis": 1, "keepdims": True}), Sample(((4,),), {"ord": 3.0}),
            Sample(((2, 3),), {"axis": (0, 1), "flag": 0}, nograd=(0,)), Sample(((2, 3),), {"axis": 2},
                                                                                error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_solve", _solve, inputs=("A", "B"), infer_shape=_infer_solve, infer_dtype=same_real, grad=_solve_gradient,
        doc="The x with A x = B.",
        samples=(
            Sample(((3, 3), (3, 2)), values={0: _GENERAL}), Sample(((3, 3), (3,)), values={0: _GENERAL}),
            Sample(((2, 3, 3), (2, 3, 1)), values={0: [_GENERAL, _POSITIVE]}), Sample(((3, 3), (2, 2)),
                                                                                      error="MXNetError"),
        ),
    ),
    _record("pinv_scalar_rcond", _pinv, _pinv_gradient, "The pseudo-inverse of each matrix.", _WIDE,
            attrs=(Attr("rcond", "float", 1e-15, doc="singular values below this share of the largest count as 0"),
                   _HERMITIAN), infer_shape=_turned_shape),
    replace(
        _record("pinv", _pinv, _pinv_gradient, "The pseudo-inverse of each matrix; `rcond` is an array.", _WIDE,
                attrs=(_HERMITIAN,), infer_shape=_turned_shape),
        inputs=("A", "rcond"),
        samples=(Sample(((2, 3), ()), values={0: _WIDE, 1: 1e-15}, nograd=(1,)),),
    ),
    OpDef(
        "_npi_tensorinv", _tensorinv, inputs=("a",), attrs=(Attr("ind", "int", 2, doc="how many axes are rows"),),
        infer_shape=_infer_tensorinv, infer_dtype=same_real, grad=_tensorinv_gradient,
        doc="The inverse of a tensor under `tensordot`.",
        samples=(
            Sample(((3, 3),), {"ind": 1}, values={0: _GENERAL}),
            Sample(((2, 1, 2),), values={0: [[[2.0, 0.3]], [[0.4, 1.0]]]}), Sample(((2, 3),), {"ind": 1},
                                                                                   error="MXNetError"),
        ),
    ),
    OpDef(
        "_npi_tensorsolve", _tensorsolve, inputs=("a", "b"),
        attrs=(Attr("a_axes", "shape", (), doc="axes of a that are moved behind first"),),
        infer_shape=_infer_tensorsolve, infer_dtype=same_real, grad=_tensorsolve_gradient,
        doc="The x with tensordot(a, x) = b.",
        samples=(
            Sample(((3, 3), (3,)), values={0: _GENERAL}), Sample(((3, 3), (3,)), {"a_axes": (0,)},
                                                                 values={0: _GENERAL}),
        ),
    ),
    _record("svd", _svd, _svd_gradient, "Left vectors, singular values and right vectors of each matrix, which has at "
            "least as many columns as rows.", _WIDE, infer_shape=_infer_svd,
            outputs=("output0", "output1", "output2")),
    _record("eigh", _eigh, _eigh_gradient, "Eigenvalues and eigenvectors (columns) of symmetric matrices.", _POSITIVE,
            attrs=_UPLO, infer_shape=_infer_eigen(True), outputs=("output0", "output1"), checked=False),
    _record("eigvalsh", lambda xp, attrs, a: _eigh(xp, attrs, a)[0], _eigvalsh_gradient,
            "Eigenvalues of symmetric matrices.", _POSITIVE, attrs=_UPLO, infer_shape=_infer_eigen(False),
            checked=False),
    _record("eig", _eig, None, "Eigenvalues and eigenvectors (columns); they must be real.", _POSITIVE,
            infer_shape=_infer_eigen(True), outputs=("output0", "output1")),
    _record("eigvals", lambda xp, attrs, a: _real(xp.linalg.eigvals(a), a), None,
            "Eigenvalues; they must be real.", _POSITIVE, infer_shape=_infer_eigen(False)),
)  # fmt: skip
