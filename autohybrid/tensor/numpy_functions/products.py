"""Products of arrays: dot, matmul, tensordot, inner, outer, vdot, einsum, and polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = ""


def dot(F: Dialect, a: Any, b: Any, out: Any = None) -> Any:
    """The product over the last axis of a and the last but one of b."""
    if not (F.is_tensor(a) and F.is_tensor(b)):
        return a * b
    return F.call("_np_dot", a, b, out=out)


def matmul(F: Dialect, a: Any, b: Any, out: Any = None, **kwargs: Any) -> Any:
    """The matrix product over the last two axes; the axes in front broadcast."""
    return F.call("_npi_matmul", a, b, out=out)


def tensordot(F: Dialect, a: Any, b: Any, axes: Any = 2) -> Any:
    """The product summed over axes: a number of them, or pairs given as two sequences."""
    if isinstance(axes, int):
        return F.call("_npi_tensordot_int_axes", a, b, axes=axes)
    if len(axes) != 2:
        raise ValueError("tensordot(): `axes` is a number, or two sequences of axes")
    left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    if len(left) != len(right):
        raise ValueError("tensordot(): the two sequences of axes must have one length")
    return F.call("_npi_tensordot", a, b, a_axes_summed=left, b_axes_summed=right)


def inner(F: Dialect, a: Any, b: Any) -> Any:
    """The product over the last axes."""
    return tensordot(F, a, b, ((-1,), (-1,)))


def _vector(F: Dialect, x: Any) -> Any:
    return F.call("_np_reshape", x, newshape=(-1,), order="C")


def outer(F: Dialect, a: Any, b: Any) -> Any:
    """Every element of a with every one of b, both flattened."""
    return tensordot(F, _vector(F, a), _vector(F, b), 0)


def vdot(F: Dialect, a: Any, b: Any) -> Any:
    """The sum of products, both flattened."""
    return tensordot(F, _vector(F, a), _vector(F, b), 1)


def einsum(F: Dialect, *operands: Any, **kwargs: Any) -> Any:
    """Products of labelled axes, summed: `einsum('ij,jk->ik', a, b)`."""
    optimize, out = kwargs.pop("optimize", False), kwargs.pop("out", None)
    if kwargs:
        raise TypeError(f"einsum() does not take the keyword {next(iter(kwargs))!r}")
    subscripts, *arrays = operands
    if not isinstance(subscripts, str):
        raise TypeError("einsum(): the labels come first, as text")
    return F.call("_npi_einsum", *arrays, out=out, subscripts=subscripts, optimize=int(bool(optimize)))


def polyval(F: Dialect, p: Any, x: Any) -> Any:
    """The polynomial with coefficients p, highest power first, at x."""
    return F.call("_npi_polyval", p, x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (dot, matmul, tensordot, inner, outer, vdot, einsum, polyval)
}
