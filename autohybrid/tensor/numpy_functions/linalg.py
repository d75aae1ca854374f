"""`mx.np.linalg`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect
from autohybrid.tensor.ops import get_operator

NAMESPACE = "linalg"


def norm(F: Dialect, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors along one axis, of matrices along two; of all elements by default."""
    if ord is None and axis is None:
        return _norm(F, x, None, keepdims, -2)
    if axis is None:
        if F.symbolic or x.ndim == 1:
            return _vectors(F, x, ord, None, keepdims)
        axis = tuple(range(x.ndim))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(axes) == 2:
        return _matrices(F, x, ord, axes, keepdims)
    if len(axes) != 1:
        raise ValueError("norm(): `axis` names one axis, or two")
    return _norm(F, x, axes, keepdims, 1) if ord is None else _vectors(F, x, ord, axes, keepdims)


def _limit(ord: Any) -> str:
    """'inf' or '-inf' where the order is infinite, else ''."""
    return str(ord) if str(ord) in ("inf", "-inf") else ""


def _norm(F: Dialect, x: Any, axis: Any, keepdims: bool, flag: int, ord: Any = 2) -> Any:
    return F.call("_npi_norm", x, ord=ord, axis=axis, keepdims=keepdims, flag=flag)


def _reduced(F: Dialect, operator: str, x: Any, axis: Any, keepdims: bool) -> Any:
    return F.call(operator, x, axis=axis, keepdims=keepdims)


def _vectors(F: Dialect, x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if _limit(ord):
        operator = "_np_max" if _limit(ord) == "inf" else "_np_min"
        return _reduced(F, operator, F.call("_npi_abs", x), axis, keepdims)
    if ord in ("fro", "f", "nuc"):
        raise ValueError(f"norm(): ord={ord!r} is for matrices")
    return _norm(F, x, axis, keepdims, -1, ord)


def _matrices(F: Dialect, x: Any, ord: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return _norm(F, x, axes, keepdims, 1)
    if ord == "nuc":
        return _norm(F, x, axes, keepdims, 2)
    if ord in (2, -2):
        return _norm(F, x, axes, keepdims, 0, ord)
    limit = _limit(ord)
    if not limit and ord not in (1, -1):
        raise ValueError(f"norm(): ord={ord!r} is no order of matrices")
    row, column = axes
    inner, last = (column, row) if limit else (row, column)  # sums of rows, or of columns
    if not keepdims and inner >= 0 and last >= 0 and last > inner:
        last -= 1
    elif not keepdims and inner < 0 and last < inner:
        last += 1
    sums = _reduced(F, "_np_sum", F.call("_npi_abs", x), inner, keepdims)
    return _reduced(F, "_np_max" if ord in (1, "inf") or limit == "inf" else "_np_min", sums, last, keepdims)


def _of_matrix(operator: str) -> Callable[..., Any]:
    def function(F: Dialect, a: Any) -> Any:
        found = F.call(operator, a)
        return tuple(found) if isinstance(found, list) and not F.symbolic else found

    function.__doc__ = get_operator(operator).doc
    return function


def svd(F: Dialect, a: Any) -> Any:
    """Left vectors, singular values and right vectors of matrices with at least as many columns as rows."""
    return tuple(F.call("_npi_svd", a))


def slogdet(F: Dialect, a: Any) -> Any:
    """Sign and logarithm of the absolute value of the determinant."""
    return F.call("_npi_slogdet", a)


def eigh(F: Dialect, a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues and eigenvectors (columns) of symmetric matrices, of which one triangle is read."""
    return tuple(F.call("_npi_eigh", a, UPLO=UPLO))


def eigvalsh(F: Dialect, a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of symmetric matrices, of which one triangle is read."""
    return F.call("_npi_eigvalsh", a, UPLO=UPLO)


def solve(F: Dialect, a: Any, b: Any) -> Any:
    """The x with a x = b."""
    return F.call("_npi_solve", a, b)


def pinv(F: Dialect, a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> Any:
    """The pseudo-inverse of matrices."""
    if hermitian:
        raise NotImplementedError("pinv(): `hermitian` is not supported")
    if F.is_tensor(rcond):
        return F.call("_npi_pinv", a, rcond, hermitian=hermitian)
    return F.call("_npi_pinv_scalar_rcond", a, rcond=rcond, hermitian=hermitian)


def tensorinv(F: Dialect, a: Any, ind: int = 2) -> Any:
    """The inverse of a tensor under `tensordot`."""
    return F.call("_npi_tensorinv", a, ind=ind)


def tensorsolve(F: Dialect, a: Any, b: Any, axes: Any = None) -> Any:
    """The x with tensordot(a, x) = b."""
    return F.call("_npi_tensorsolve", a, b, a_axes=axes or ())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "norm": norm,
    "svd": svd,
    "slogdet": slogdet,
    "eigh": eigh,
    "eigvalsh": eigvalsh,
    "solve": solve,
    "pinv": pinv,
    "tensorinv": tensorinv,
    "tensorsolve": tensorsolve,
    "inv": _of_matrix("_npi_inv"),
    "det": _of_matrix("_npi_det"),
    "cholesky": _of_matrix("_npi_cholesky"),
    "eig": _of_matrix("_npi_eig"),
    "eigvals": _of_matrix("_npi_eigvals"),
}
