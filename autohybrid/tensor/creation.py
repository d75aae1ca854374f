"""Functions of `mx.nd` that make arrays: from Python values (`array`) and by rule (`zeros`, `arange`, `eye`...)."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from autohybrid.context import Context, current_context
from autohybrid.errors import MXNetError
from autohybrid.numpy_semantics import is_np_shape
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.backend import namespace_of, to_device
from autohybrid.tensor.copying import copied
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.tape import state

__all__ = ["arange", "array", "empty", "eye", "full", "linspace", "ones", "waitall", "zeros"]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array with the values of `source_array` (NDArray, NumPy array, nested lists, number), always a copy.

    The dtype is `dtype`, else that of an NDArray source, else float32, also for NumPy arrays. Raises TypeError for
    something that is no array of numbers.
    """
    ctx = ctx or current_context()
    if _is_sparse(source_array):
        from autohybrid.tensor.sparse import array as sparse_array

        return sparse_array(source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        return copied(source_array, ctx, dtype)
    return _owned(to_device(host_array(source_array, dtype or "float32"), ctx), ctx)


def _is_sparse(value: Any) -> bool:
    """A csr or row_sparse array, or a csr matrix of SciPy."""
    return getattr(value, "stype", "default") != "default" or getattr(value, "format", None) == "csr"


def host_array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A fresh NumPy array of the values in `dtype`, with C's rules of conversion. Raises TypeError for no numbers."""
    try:
        found = np.asarray(None if _holds_arrays(value) else value)
    except ValueError:  # rows of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "biuf" and found.dtype != np.dtype(dtype):
        hint = "; join arrays with `nd.stack` or `nd.concat`" if _holds_arrays(value) else ""
        raise TypeError(
            f"an array needs numbers, or nested lists of numbers, not {type(value).__name__} {value!r}{hint}"
        )
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def _holds_arrays(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    return any(isinstance(v, NDArray) or _holds_arrays(v) for v in value)


def _owned(data: Any, ctx: Context) -> NDArray:
    """An NDArray over fresh memory; while a graph is built, a constant of it."""
    made = wrap(data, ctx)
    return made if state.builder is None else state.builder.constant(made)


def empty(
    shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """An array of this shape with unset values."""
    if stype not in (None, "default"):
        return zeros(shape, ctx, dtype, stype)
    ctx = ctx or current_context()
    return _owned(namespace_of(ctx).empty(_shape(shape), dtype=np.dtype(dtype or "float32")), ctx)


def _shape(shape: Any) -> tuple[int, ...]:
    return (index(shape),) if np.ndim(shape) == 0 else tuple(map(index, shape))


def full(
    shape: int | tuple[int, ...], val: float, ctx: Context | None = None, dtype: Any = None, out: Any = None
) -> NDArray:
    """An array of this shape filled with `val`, or `out` filled with it."""
    if out is not None:
        out[:] = val
        return out  # type: ignore[no-any-return]
    if np.ndim(shape) > 0 and len(shape) == 0 and not is_np_shape():  # type: ignore[arg-type]
        raise MXNetError("the shape () means an unknown shape outside of numpy mode; an array of one number has (1,)")
    ctx = ctx or current_context()
    if state.builder is not None:
        options = {"shape": _shape(shape), "dtype": np.dtype(dtype or "float32").name, "ctx": str(ctx)}
        return gradient_namespace()._full(value=val, **options)  # type: ignore[no-any-return]
    value = host_array(val, dtype or "float32")
    return wrap(namespace_of(ctx).full(_shape(shape), value[()], dtype=value.dtype), ctx)


def zeros(
    shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None, stype: str | None = None, **kwargs: Any
) -> NDArray:
    """An array of zeros, in storage type `stype`."""
    if stype not in (None, "default"):
        from autohybrid.tensor.sparse import zeros as sparse_zeros

        return sparse_zeros(stype, shape, ctx, dtype, **kwargs)
    return full(shape, 0, ctx, dtype, **_without_notes(kwargs))


def ones(shape: int | tuple[int, ...], ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones."""
    return full(shape, 1, ctx, dtype, **_without_notes(kwargs))


def _without_notes(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Without what only a symbol keeps: its `name`, and attributes of the form `__layout__`."""
    return {k: v for k, v in kwargs.items() if k != "name" and not (k.startswith("__") and k.endswith("__"))}


def _by_rule(name: str, ctx: Context | None, dtype: Any, **attrs: Any) -> NDArray:
    options = {"dtype": np.dtype(dtype or "float32").name, "ctx": str(ctx or current_context())}
    return getattr(gradient_namespace(), name)(**attrs, **options)  # type: ignore[no-any-return]


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = "float32",
) -> NDArray:
    """Numbers from `start` (0 if it is the only bound) below `stop` in steps of `step`, each `repeat` times.

    Raises MXNetError when there are none.
    """
    return _by_rule("_arange", ctx, dtype, start=start, stop=stop, step=step, repeat=repeat)


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, ctx: Context | None = None, dtype: Any = "float32"
) -> NDArray:
    """`num` numbers evenly spaced from `start` to `stop`, which is the last one unless `endpoint=False`."""
    return _by_rule("_linspace", ctx, dtype, start=start, stop=stop, num=num, endpoint=endpoint)


def eye(N: int, M: int = 0, k: int = 0, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """A matrix (N, M) with ones on the diagonal `k` places above the main one, zeros elsewhere; M=0 means N."""
    return _by_rule("_eye", ctx, dtype, N=N, M=M, k=k, **kwargs)


def waitall() -> None:
    """Return when every started computation is done."""
    ctx = current_context()
    xp = namespace_of(ctx)
    if xp is not np:
        xp.cuda.Device(ctx.device_id).synchronize()
