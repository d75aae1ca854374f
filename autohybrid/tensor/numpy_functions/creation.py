"""Functions that make arrays: zeros, ones, full, arange, linspace, eye, windows, and their `_like` forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.arithmetic import NUMBERS
from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = ""


def _place(ctx: Any) -> dict[str, Any]:
    return {} if ctx is None else {"ctx": str(ctx)}


def _only_c(order: str) -> None:
    if order != "C":
        raise NotImplementedError(f"arrays are stored by rows: order='C' only, not {order!r}")


def zeros(F: Dialect, shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Zeros, float32 by default."""
    _only_c(order)
    return F.call("_npi_zeros", shape=shape, dtype=dtype or "float32", **_place(ctx))


def ones(F: Dialect, shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """Ones, float32 by default."""
    _only_c(order)
    return F.call("_npi_ones", shape=shape, dtype=dtype or "float32", **_place(ctx))


def empty(F: Dialect, shape: Any, dtype: Any = None, order: str = "C", ctx: Any = None) -> Any:
    """An array whose values mean nothing (they are zeros), float32 by default."""
    return zeros(F, shape, dtype, order, ctx)


def full(
    F: Dialect, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None
) -> Any:
    """An array filled with one value, float32 by default (bool for a truth value)."""
    _only_c(order)
    if F.is_tensor(fill_value):
        from autohybrid.tensor.numpy_functions.shapes import broadcast_to

        filled = broadcast_to(F, fill_value, shape)
        return filled if dtype is None else filled.astype(dtype)
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else "float32"
    return F.call("_npi_full", out=out, shape=shape, value=fill_value, dtype=dtype, **_place(ctx))


def full_like(
    F: Dialect, a: Any, fill_value: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None
) -> Any:
    """An array of the same shape filled with one value, in the same dtype by default."""
    _only_c(order)
    place = {"ctx": str(ctx)} if ctx is not None else {"ctx": "cpu(0)"} if F.symbolic else {}
    return F.call("_npi_full_like", a, out=out, fill_value=fill_value, **place, **({"dtype": dtype} if dtype else {}))


def zeros_like(F: Dialect, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """Zeros in the shape of another array."""
    return full_like(F, a, 0, dtype, order, ctx, out)


def ones_like(F: Dialect, a: Any, dtype: Any = None, order: str = "C", ctx: Any = None, out: Any = None) -> Any:
    """Ones in the shape of another array."""
    return full_like(F, a, 1, dtype, order, ctx, out)


def empty_like(F: Dialect, prototype: Any, dtype: Any = None, order: str = "C", subok: bool = False,
               shape: Any = None) -> Any:  # fmt: skip
    """An array of the same shape whose values mean nothing (they are zeros)."""
    if subok or shape is not None:
        raise NotImplementedError("empty_like(): `subok` and `shape` are not supported")
    return full_like(F, prototype, 0, dtype, order)


def arange(F: Dialect, start: float, stop: Any = None, step: Any = 1, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers from `start` below `stop` in steps of `step`, float32 by default. Raises ZeroDivisionError for step 0."""
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    if start is None or not all(isinstance(v, NUMBERS) for v in (start, stop, step)):
        raise ValueError("arange() takes numbers as `start`, `stop` and `step`")
    if step == 0:
        raise ZeroDivisionError("arange(): `step` must not be 0")
    return F.call("_npi_arange", start=start, stop=stop, step=step, dtype=dtype or "float32", **_place(ctx))


def linspace(
    F: Dialect, start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, ctx: Any = None,
) -> Any:  # fmt: skip
    """`num` numbers evenly spaced from `start` to `stop`; with `retstep` also the distance."""
    _numbers_only("linspace", start, stop, axis)
    made = F.call("_npi_linspace", start=start, stop=stop, num=num, endpoint=endpoint, dtype=dtype or "float32",
                  **_place(ctx))  # fmt: skip
    return (made, (stop - start) / (num - 1 if endpoint else num)) if retstep else made


def logspace(
    F: Dialect, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None,
    axis: int = 0, ctx: Any = None,
) -> Any:  # fmt: skip
    """`num` numbers from base**start to base**stop, evenly spaced in their logarithms."""
    _numbers_only("logspace", start, stop, axis)
    return F.call("_npi_logspace", start=start, stop=stop, num=num, endpoint=endpoint, base=base,
                  dtype=dtype or "float32", **_place(ctx))  # fmt: skip


def _numbers_only(name: str, start: Any, stop: Any, axis: int) -> None:
    if not isinstance(start, NUMBERS) or not isinstance(stop, NUMBERS):
        raise NotImplementedError(f"{name}(): `start` and `stop` must be numbers")
    if axis != 0:
        raise NotImplementedError(f"{name}(): `axis` must be 0")


def eye(F: Dialect, N: int, M: Any = None, k: int = 0, dtype: Any = None, **kwargs: Any) -> Any:
    """A matrix with ones on a diagonal, float32 by default."""
    ctx = kwargs.pop("ctx", None)
    if kwargs:
        raise TypeError(f"eye() does not take the keyword {next(iter(kwargs))!r}")
    return F.call("_npi_eye", N=N, M=M, k=k, dtype=dtype or "float32", **_place(ctx))


def identity(F: Dialect, n: int, dtype: Any = None, ctx: Any = None) -> Any:
    """The identity matrix, float32 by default. Raises TypeError and ValueError for no size."""
    if not isinstance(n, int):
        raise TypeError("identity(): `n` must be an integer")
    if n < 0:
        raise ValueError("identity(): `n` must not be negative")
    return F.call("_npi_identity", shape=(n, n), dtype=dtype or "float32", **_place(ctx))


def indices(F: Dialect, dimensions: Any, dtype: Any = "int32", ctx: Any = None) -> Any:
    """The coordinates of every place of a grid, int32 by default. Raises ValueError for no extents."""
    if not isinstance(dimensions, (tuple, list)):
        raise ValueError("indices(): `dimensions` must be a sequence of ints")
    return F.call("_npi_indices", dimensions=tuple(dimensions), dtype=dtype, **_place(ctx))


def _window(name: str) -> Callable[..., Any]:
    def function(F: Dialect, M: int, dtype: Any = "float32", ctx: Any = None) -> Any:
        return F.call(f"_npi_{name}", M=M, dtype=dtype, **_place(ctx))

    function.__doc__ = f"The {name} window of `M` numbers."
    return function


def tri(F: Dialect, N: int, M: Any = None, k: int = 0, dtype: Any = None, ctx: Any = None) -> Any:
    """A matrix with ones on and below a diagonal."""
    return F.call("_npi_tril", ones(F, (N, N if M is None else M), dtype, "C", ctx), k=k)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        zeros, ones, empty, full, full_like, zeros_like, ones_like, empty_like, arange, linspace, logspace, eye,
        identity, indices, tri,
    )
}  # fmt: skip
FUNCTIONS |= {name: _window(name) for name in ("hanning", "hamming", "blackman")}
