"""Resizing along the last two axes: interpolation and averaging as two matrix products, on any array library.

A resize by rows and columns is `rows @ data @ columns.T`; its adjoint uses the transposed matrices.
"""

from __future__ import annotations

from typing import Any

from autohybrid.tensor.precision import narrow, widen


def bilinear_matrix(xp: Any, size: int, target: int, align_corners: bool, dtype: Any) -> Any:
    """The matrix (target, size) that interpolates `target` points linearly between `size` given ones."""
    steps = xp.arange(target, dtype=xp.float64)
    if target <= 1:  # MXNet takes the first point then, however it aligns
        source = steps * 0
    elif align_corners:
        source = steps * ((size - 1) / (target - 1))
    else:
        source = xp.maximum((steps + 0.5) * (size / target) - 0.5, 0)
    # A hat of width 1 around every given point; the last one extends to the right.
    source = xp.minimum(source, size - 1)
    distance = xp.abs(source[:, None] - xp.arange(size))
    return xp.maximum(1 - distance, 0).astype(dtype)


def average_matrix(xp: Any, size: int, target: int, dtype: Any) -> Any:
    """The matrix (target, size) whose rows average over [floor(i size / target), ceil((i + 1) size / target))."""
    steps = xp.arange(target)
    start = (steps * size) // target
    end = -((-(steps + 1) * size) // target)
    positions = xp.arange(size)
    inside = (positions >= start[:, None]) & (positions < end[:, None])
    return (inside / (end - start)[:, None]).astype(dtype)


def resample(xp: Any, data: Any, rows: Any, columns: Any) -> Any:
    """`rows @ data @ columns.T` over the last two axes, in the dtype of data; the matrices have the computing dtype."""
    (x,) = widen(xp, data)
    if rows.shape[0] * columns.shape[1] <= rows.shape[1] * columns.shape[0]:
        return narrow(xp.matmul(xp.matmul(rows, x), columns.T), data)
    return narrow(xp.matmul(rows, xp.matmul(x, columns.T)), data)


def computing_dtype(xp: Any, data: Any) -> Any:
    """The dtype that resampling of `data` computes in."""
    return xp.float32 if data.dtype.char == "e" else data.dtype
