"""Functions of `mx.nd` that make arrays from Python values or work on several: `array`, `zeros`, `concatenate`..."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.context import Context, current_context
from autohybrid.tensor.array import NDArray, array_on, wrap
from autohybrid.tensor.backend import namespace_of, to_host

__all__ = ["array", "empty", "full", "ones", "waitall", "zeros"]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array with the values of `source_array` (NDArray, NumPy array, nested lists, number), always a copy.

    The dtype is `dtype`, else that of an NDArray or NumPy source (float64 stays float64), else float32.
    """
    if isinstance(source_array, NDArray):
        dtype = source_array.dtype if dtype is None else dtype
        return array_on(to_host(source_array._data), ctx or source_array._ctx, dtype)
    if dtype is None:
        dtype = source_array.dtype if isinstance(source_array, np.ndarray) else "float32"
    return array_on(source_array, ctx, dtype)


def empty(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array of this shape with unset values."""
    ctx = ctx or current_context()
    return wrap(namespace_of(ctx).empty(shape, dtype=dtype or "float32"), ctx)


def full(shape: int | tuple[int, ...], val: float, ctx: Context | None = None, dtype: Any = None, out: Any = None) -> NDArray:
    """An array of this shape filled with `val`."""
    if out is not None:
        out._data[...] = val
        return out  # type: ignore[no-any-return]
    ctx = ctx or current_context()
    return wrap(namespace_of(ctx).full(shape, val, dtype=dtype or "float32"), ctx)


def zeros(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of zeros."""
    return full(shape, 0, ctx, dtype, **kwargs)


def ones(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones."""
    return full(shape, 1, ctx, dtype, **kwargs)


def waitall() -> None:
    """Return when every started computation is done."""
    ctx = current_context()
    xp = namespace_of(ctx)
    if xp is not np:
        xp.cuda.Device(ctx.device_id).synchronize()
