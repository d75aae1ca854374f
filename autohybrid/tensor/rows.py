"""Functions of each row (along the last axis) that write into given memory, for code templates of fast calls.

They compute what the kernels compute, in fewer passes and another order. A sum over rows is a product with a column
that the caller keeps (`ones`, `shares`), the fastest sum that the array library has.
"""

from __future__ import annotations

from typing import Any

#: exp of numbers between -_RANGE and _RANGE, and the sum of a row of them, is far from the ends of float32.
_RANGE = 60.0
#: From this length on, a product of BLAS for each row is the fastest sum of squares.
_LONG_ROW = 512


def softmax(xp: Any, ones: Any, x: Any, out: Any) -> None:
    """softmax of each row. The maximum of a row is taken off only where the range of the data makes it necessary."""
    low, high = x.min(), x.max()  # over everything, which is several times faster than for each row
    if high < _RANGE and low > -_RANGE:
        xp.exp(x, out)
    elif high - low < _RANGE:
        xp.subtract(x, high, out)
        xp.exp(out, out)
    else:  # a NaN comes here too
        xp.subtract(x, x.max(axis=-1, keepdims=True), out)
        xp.exp(out, out)
    total = out.reshape(-1, out.shape[-1]).dot(ones)
    xp.reciprocal(total, total)
    xp.multiply(out, total.reshape(*out.shape[:-1], 1), out)


def layer_norm(xp: Any, shares: Any, eps: float, x: Any, gamma: Any, beta: Any, out: Any) -> None:
    """Each row with mean 0 and variance 1, times gamma plus beta. `shares` is a column of 1 / n."""
    columns = out.shape[-1]
    mean = x.reshape(-1, columns).dot(shares)
    xp.subtract(x, mean.reshape(*x.shape[:-1], 1), out)
    scale = _sums_of_squares(xp, out)
    scale /= columns
    scale += eps
    xp.sqrt(scale, scale)
    xp.reciprocal(scale, scale)
    xp.multiply(out, scale[..., None], out)
    xp.multiply(out, gamma, out)
    xp.add(out, beta, out)


def _sums_of_squares(xp: Any, x: Any) -> Any:
    """The sum of the squares of each row. NumPy has products of rows from its second release on."""
    vecdot = getattr(xp, "vecdot", None) if x.shape[-1] >= _LONG_ROW else None
    return xp.einsum("...c,...c->...", x, x) if vecdot is None else vecdot(x, x)
