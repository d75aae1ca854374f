"""`mx.test_utils`: comparing arrays and drawing random ones, as the tests of MXNet code do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.context import Context, current_context
from autohybrid.tensor.backend import num_gpus

__all__ = [
    "almost_equal", "assert_allclose", "assert_almost_equal", "assert_exception", "default_context", "default_dtype",
    "environment", "list_gpus", "rand_ndarray", "rand_shape_2d", "rand_shape_3d", "rand_shape_nd", "random_arrays",
    "same", "set_default_context",
]  # fmt: skip

Host = np.ndarray[Any, Any]
#: By dtype, what rounding explains: relative and absolute tolerance. The coarser dtype of the two decides.
_TOLERANCES = {"float16": (1e-2, 1e-1), "float32": (1e-4, 1e-3), "float64": (1e-5, 1e-20)}
_EXACT = (0.0, 0.0)


def default_context() -> Context:
    """The context that arrays are made on without being told."""
    return current_context()


def set_default_context(ctx: Context) -> None:
    """Make `ctx` the one that arrays are made on without being told."""
    Context.default_ctx = ctx


def default_dtype() -> type[np.float32]:
    """float32."""
    return np.float32


def list_gpus() -> list[int]:
    """The numbers of the GPUs."""
    return list(range(num_gpus()))


def _host(value: Any) -> Host:
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def _tolerances(a: Host, b: Host, rtol: float | None, atol: float | None) -> tuple[float, float]:
    found = [_TOLERANCES.get(array.dtype.name, _EXACT) for array in (a, b)]
    return (
        max(r for r, _ in found) if rtol is None else rtol,
        max(t for _, t in found) if atol is None else atol,
    )


def same(a: Any, b: Any) -> bool:
    """Whether all elements are equal."""
    return np.array_equal(_host(a), _host(b))


def almost_equal(
    a: Any,
    b: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    use_broadcast: bool = True,
) -> bool:
    """Whether all elements are equal within `atol + rtol * |b|`; without them, within the rounding of the dtypes."""
    left, right = _host(a), _host(b)
    if not use_broadcast and left.shape != right.shape:
        return False
    rtol, atol = _tolerances(left, right, rtol, atol)
    return np.allclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: float | None = None,
    atol: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Raise AssertionError unless `almost_equal`; it names the place and the values of the largest difference."""
    left, right = _host(a), _host(b)
    if not use_broadcast and left.shape != right.shape:
        raise AssertionError(f"`{names[0]}` has the shape {left.shape}, `{names[1]}` {right.shape}")
    rtol, atol = _tolerances(left, right, rtol, atol)
    left, right = np.broadcast_arrays(left, right)
    close = np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return
    with np.errstate(invalid="ignore", over="ignore"):
        excess = np.abs(left.astype(np.float64) - right) / (atol + rtol * np.abs(right.astype(np.float64)) + 1e-300)
    excess = np.where(close, -1.0, np.where(np.isnan(excess), np.inf, excess))
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
    raise AssertionError(
        f"{int((~close).sum())} of {close.size} elements differ by more than {rtol=}, {atol=}; most at {place}: "
        f"`{names[0]}` is {left[place]}, `{names[1]}` is {right[place]}"
    )


def assert_allclose(a: Any, b: Any, rtol: float = 1e-07, atol: float = 0, equal_nan: bool = True) -> None:
    """`assert_almost_equal` with given tolerances."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_exception(f: Callable[..., Any], exception_type: type[BaseException], *args: Any, **kwargs: Any) -> None:
    """Raise AssertionError unless `f(*args, **kwargs)` raises `exception_type`."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{exception_type.__name__} was not raised")


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape of `num_dim` extents up to `dim`."""
    return tuple(int(n) for n in np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim))


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape of two extents, up to `dim0` and `dim1`."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1))


def rand_shape_3d(dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """A random shape of three extents."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))


def random_arrays(*shapes: tuple[int, ...]) -> Any:
    """Arrays (NumPy, float32) from the normal distribution; a single one when one shape is given."""
    arrays = [np.asarray(np.random.standard_normal(shape), dtype=np.float32) for shape in shapes]
    return arrays if len(arrays) > 1 else arrays[0]


def rand_ndarray(
    shape: tuple[int, ...],
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    ctx: Context | None = None,
) -> Any:
    """A random NDArray: dense from [-1, 1); sparse from [0, 1), about `density` (by default random) of it stored."""
    dtype = np.float32 if dtype is None else dtype
    if stype == "default":
        return nd.array(np.random.uniform(-1, 1, shape), dtype=dtype, ctx=ctx)
    share = np.random.rand() if density is None else density
    kept = np.random.rand(*(shape[:1] if stype == "row_sparse" else shape)) < share
    kept = kept.reshape(kept.shape + (1,) * (len(shape) - kept.ndim))
    return nd.array(np.random.rand(*shape) * kept, dtype=dtype, ctx=ctx).tostype(stype)


@contextmanager
def environment(*args: Any) -> Iterator[None]:
    """Set environment variables for the body: `environment(name, value)` or a dict; None takes a variable away."""
    wanted: Mapping[str, Any] = args[0] if len(args) == 1 else {args[0]: args[1]}
    earlier = {name: os.environ.get(name) for name in wanted}
    _put(wanted)
    try:
        yield
    finally:
        _put(earlier)


def _put(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = str(value)
