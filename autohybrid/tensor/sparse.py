"""Functions that make sparse arrays and convert between storage types; arithmetic of `mx.nd.sparse`.

The classes are in `tensor/sparse_array.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context, current_context
from autohybrid.tensor.arithmetic import BINARY, apply_binary
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.backend import namespace_of, to_device, to_host
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.sparse_array import CLASSES, BaseSparseNDArray, CSRNDArray, RowSparseNDArray

__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "add", "array", "csr_matrix", "divide", "empty", "multiply",
    "row_sparse_array", "subtract", "zeros",
]  # fmt: skip


def cast_storage(array: NDArray, stype: str) -> NDArray:
    """`array` in storage type 'default', 'csr' or 'row_sparse'. The method `tostype`.

    Raises ValueError when 'csr' is asked of another than a matrix, or from one sparse type to the other; MXNetError
    for an unknown type.
    """
    if array.stype != "default" and stype not in ("default", array.stype):
        raise ValueError(f"cast_storage from {array.stype} to {stype} is not supported; go through 'default'")
    if stype == "csr" and array.ndim != 2:
        raise ValueError(f"only a matrix can be csr, this array has shape {array.shape}")
    return gradient_namespace().cast_storage(array, stype=stype)  # type: ignore[no-any-return]


def from_parts(stype: str, shape: Sequence[int], values: Any, aux: Sequence[Any], ctx: Context) -> BaseSparseNDArray:
    """A sparse array over its stored parts (see `stored_parts`), which are not copied."""
    return CLASSES[stype]._make(shape, values, aux, ctx)


def zeros(
    stype: str, shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None, **kwargs: Any
) -> NDArray:
    """An array of zeros in a storage type. Raises ValueError for an unknown one."""
    from autohybrid.tensor import creation

    if stype == "default":
        return creation.zeros(shape, ctx, dtype, **kwargs)  # type: ignore[arg-type]
    if stype not in CLASSES:
        raise ValueError(f"unknown storage type {stype!r}; known are 'default', 'csr' and 'row_sparse'")
    ctx = ctx or current_context()
    extents = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(e) for e in shape)
    xp = namespace_of(ctx)
    kind = np.dtype(dtype or "float32")
    if stype == "row_sparse":
        return from_parts(stype, extents, xp.zeros((0, *extents[1:]), kind), [xp.zeros(0, "int64")], ctx)
    if len(extents) != 2:
        raise ValueError(f"only a matrix can be csr, not shape {extents}")
    pointers = xp.zeros(extents[0] + 1, "int64")
    return from_parts(stype, extents, xp.zeros(0, kind), [pointers, xp.zeros(0, "int64")], ctx)


def empty(stype: str, shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array in a storage type; a sparse one stores nothing."""
    return zeros(stype, shape, ctx, dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A copy of a sparse array, or of a SciPy csr matrix. Raises ValueError for anything else.

    A dense NDArray is converted with `tostype` (AssertionError here, as in MXNet).
    """
    if isinstance(source_array, BaseSparseNDArray):
        moved = source_array.as_in_context(ctx or current_context(), True)
        return moved if dtype is None else moved.astype(dtype)
    if isinstance(source_array, NDArray):
        raise AssertionError("use `tostype` to make a sparse array of a dense one")
    if getattr(source_array, "format", None) == "csr":
        parts = (source_array.data, source_array.indices, source_array.indptr)
        return csr_matrix(parts, source_array.shape, ctx, dtype or source_array.dtype)
    raise ValueError(f"nd.sparse.array takes a sparse array or a SciPy csr matrix, not {type(source_array).__name__}")


def csr_matrix(arg1: Any, shape: Sequence[int] | None = None, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A csr matrix, of a dense or csr array, of `(data, indices, indptr)`, of `(data, (row, column))`, or of zeros of
    shape `(rows, columns)`.

    The dtype is `dtype`, else that of an array given, else float32. Raises ValueError for other arguments or a
    contradicting `shape`.
    """
    ctx = ctx or current_context()
    if isinstance(arg1, tuple):
        if len(arg1) == 3:
            made = _csr_of_parts(arg1, shape, ctx, dtype)
        elif len(arg1) == 2 and isinstance(arg1[1], (tuple, list)) and len(arg1[1]) == 2:
            made = _csr_of_coordinates(arg1[0], arg1[1], shape, ctx, dtype)
        elif len(arg1) == 2:
            made = _checked_shape(zeros("csr", arg1, ctx, dtype), shape)
        else:
            raise ValueError(f"csr_matrix takes a tuple of 2 or 3, got one of {len(arg1)}")
        return made
    if isinstance(arg1, RowSparseNDArray):
        raise ValueError("csr_matrix cannot be made of a row_sparse array; convert it to 'default' first")
    if isinstance(arg1, CSRNDArray) or getattr(arg1, "format", None) == "csr":
        return _checked_shape(array(arg1, ctx, dtype), shape)
    return _checked_shape(_dense_source(arg1, ctx, dtype).tostype("csr"), shape)


def row_sparse_array(
    arg1: Any, shape: Sequence[int] | None = None, ctx: Context | None = None, dtype: Any = None
) -> NDArray:
    """A row_sparse array, of a dense or row_sparse array, of `(data, indices)`, or of zeros of a shape.

    The dtype is `dtype`, else that of an array given, else float32. Raises ValueError for other arguments or a
    contradicting `shape`.
    """
    ctx = ctx or current_context()
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise ValueError("row_sparse_array takes `(data, indices)` or a shape of at least two extents")
        if len(arg1) == 2 and not all(isinstance(part, (int, np.integer)) for part in arg1):
            return _row_sparse_of_parts(arg1[0], arg1[1], shape, ctx, dtype)
        return _checked_shape(zeros("row_sparse", arg1, ctx, dtype), shape)
    if isinstance(arg1, CSRNDArray):
        raise ValueError("row_sparse_array cannot be made of a csr array; convert it to 'default' first")
    if isinstance(arg1, RowSparseNDArray):
        return _checked_shape(array(arg1, ctx, dtype), shape)
    return _checked_shape(_dense_source(arg1, ctx, dtype).tostype("row_sparse"), shape)


def _checked_shape(made: NDArray, shape: Sequence[int] | None) -> NDArray:
    if shape is not None and tuple(shape) != made.shape:
        raise ValueError(f"`shape` {tuple(shape)} contradicts the array's {made.shape}")
    return made


def _on_device(values: Any, ctx: Context, dtype: Any = None) -> Any:
    """A fresh array of `values` on `ctx`; lists become float32 unless `dtype` says otherwise."""
    if isinstance(values, NDArray):
        values = to_host(values._data)
    elif dtype is None and not isinstance(values, np.ndarray):
        dtype = "float32"
    return to_device(np.array(values, dtype=dtype), ctx)


def _dense_source(values: Any, ctx: Context, dtype: Any) -> NDArray:
    return wrap(_on_device(values, ctx, dtype), ctx)


def _csr_of_parts(parts: Sequence[Any], shape: Sequence[int] | None, ctx: Context, dtype: Any) -> NDArray:
    values = _on_device(parts[0], ctx, dtype)
    columns, starts = [_on_device(part, ctx, "int64").reshape(-1) for part in parts[1:]]
    if shape is None:
        if not columns.size:
            raise ValueError("csr_matrix cannot infer the number of columns from no `indices`; give `shape`")
        shape = (len(starts) - 1, int(columns.max()) + 1)
    if values.shape != columns.shape:
        raise ValueError(f"csr_matrix: {values.size} values in `data` and {columns.size} `indices` do not match")
    return CSRNDArray._make(shape, values, [starts, columns], ctx, trusted=False)


def _csr_of_coordinates(
    values: Any, places: Sequence[Any], shape: Sequence[int] | None, ctx: Context, dtype: Any
) -> NDArray:
    """Of values with their rows and columns; values for one place are added up."""
    data = np.asarray(to_host(_on_device(values, ctx, dtype)))
    rows, columns = [to_host(_on_device(place, ctx, "int64")).reshape(-1) for place in places]
    if shape is None:
        shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    flat, where = np.unique(rows * shape[1] + columns, return_inverse=True)
    sums = np.zeros(flat.shape, data.dtype)
    np.add.at(sums, where, data)
    starts = np.searchsorted(flat // shape[1], np.arange(shape[0] + 1))
    aux = [to_device(starts, ctx), to_device(flat % shape[1], ctx)]
    made = CSRNDArray._make(shape, to_device(sums, ctx), aux, ctx, trusted=False)
    made._ensure_fitting()
    return made


def _row_sparse_of_parts(values: Any, places: Any, shape: Sequence[int] | None, ctx: Context, dtype: Any) -> NDArray:
    data, rows = _on_device(values, ctx, dtype), _on_device(places, ctx, "int64").reshape(-1)
    if shape is None:
        if not rows.size:
            raise ValueError("row_sparse_array cannot infer the number of slices from no `indices`; give `shape`")
        shape = (int(rows.max()) + 1, *data.shape[1:])
    if data.shape != (rows.size, *shape[1:]) or len(shape) != data.ndim:
        raise ValueError(
            f"`data` of shape {data.shape} does not hold {rows.size} slices of an array of shape {tuple(shape)}"
        )
    return RowSparseNDArray._make(shape, data, [rows], ctx, trusted=False)


def _binary(function: str, elementwise: str) -> Any:
    row = next(r for r in BINARY if r.function == function)

    def apply(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, NDArray) and isinstance(rhs, NDArray) and lhs.shape == rhs.shape:
            return getattr(gradient_namespace(), elementwise)(lhs, rhs)
        return apply_binary(row, lhs, rhs)

    apply.__name__ = apply.__qualname__ = function
    apply.__doc__ = f"`{function}` of two arrays; of two sparse ones of one shape and storage type it stays sparse."
    return apply


add = _binary("add", "elemwise_add")
subtract = _binary("subtract", "elemwise_sub")
multiply = _binary("multiply", "elemwise_mul")
divide = _binary("divide", "elemwise_div")
