"""The classes of sparse arrays: CSRNDArray and RowSparseNDArray. Own storage, conversion, subscripts and copies.

A sparse array is an NDArray whose stored part alone is in memory. Operators without a sparse form read it through
`_data`, which makes a dense copy that refuses to be written; `_store` is how results get in. The operators with a
sparse form are in `tensor/sparse_calls.py`, the functions that make sparse arrays in `tensor/sparse.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import MXNetError, NotSupportedForSparseNDArray
from autohybrid.tensor.array import NDArray, refuse_inplace, wrap
from autohybrid.tensor.backend import Array, array_namespace, to_device, to_host
from autohybrid.tensor.tape import Entry

Shape = tuple[int, ...]


class BaseSparseNDArray(NDArray):
    """What csr and row_sparse arrays have in common. `_values` is the stored part, `_aux` says where it belongs."""

    __slots__ = ("_aux", "_shape", "_trusted", "_values")
    _aux: tuple[Array, ...]
    _shape: Shape
    _trusted: bool  # whether the index arrays are known to fit the shape; those of a user are looked at before use
    _values: Array

    @classmethod
    def _make(
        cls, shape: Sequence[int], values: Array, aux: Sequence[Array], ctx: Context, trusted: bool = True
    ) -> BaseSparseNDArray:
        array = cls.__new__(cls)
        array._shape = tuple(shape)
        array._values = values
        array._aux = tuple(a.astype("int64", copy=False) for a in aux)
        array._trusted = trusted
        array._ctx = ctx
        array._entry = None
        array._grad = None
        return array

    def _ensure_fitting(self) -> None:
        """Raise MXNetError when the index arrays that the user gave would read or write outside the array."""
        if not self._trusted:
            self.check_format(full_check=False)
            self._trusted = True

    # -- what subclasses own -----------------------------------------------------------------------------------------
    def _dense(self) -> Array:
        """A fresh dense array of the values."""
        raise NotImplementedError

    @classmethod
    def _compress(cls, dense: Array) -> tuple[Array, tuple[Array, ...]]:
        """The stored part of a dense array and its places."""
        raise NotImplementedError

    # -- the parts of NDArray that look at memory --------------------------------------------------------------------
    @property
    def _data(self) -> Array:
        dense = self._dense()
        flags = getattr(dense, "flags", None)
        if isinstance(dense, np.ndarray) and flags is not None:
            flags.writeable = False  # a write would be lost: results are put in with `_store`
        return dense

    @property
    def shape(self) -> Shape:
        """Extents of the axes."""
        return self._shape

    @property
    def dtype(self) -> type[np.generic]:
        """The NumPy scalar type of the elements."""
        return self._values.dtype.type  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Number of elements, those that are not stored included."""
        return int(np.prod(self._shape, dtype=np.int64))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    @property
    def data(self) -> NDArray:
        """The stored values; writing to it changes the array."""
        return wrap(self._values, self._ctx)

    def __len__(self) -> int:
        return int(self._shape[0])

    def __repr__(self) -> str:
        return f"\n<{type(self).__name__} {'x'.join(map(str, self._shape))} @{self._ctx}>"

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A dense NumPy array of the values."""
        return to_host(self._dense())

    def stored_parts(self) -> tuple[Array, tuple[Array, ...]]:
        """The stored values and the index arrays, in the order of MXNet's file format."""
        return self._values, self._aux

    def _store(self, value: Array) -> None:
        """Take the values of a dense array of the same shape."""
        values, self._aux = self._compress(value)
        self._values, self._trusted = values.astype(self._values.dtype, copy=False), True

    def _like(self, values: Array) -> BaseSparseNDArray:
        """An array of the same pattern with other stored values."""
        return type(self)._make(self._shape, values, self._aux, self._ctx, self._trusted)

    def _alias(self, entry: Entry | None) -> NDArray:
        other = self._like(self._values)
        other._entry = entry
        return other

    # -- copies and conversions --------------------------------------------------------------------------------------
    def copy(self) -> NDArray:
        """A copy on the same device, of the same storage type."""
        return self.as_in_context(self._ctx, True)

    def as_in_context(self, context: Context, copy: bool = False) -> NDArray:
        """The array on `context`; itself when it is there already."""
        if context == self._ctx and not copy:
            return self
        parts = [to_device(part, context) for part in (self._values, *self._aux)]
        if context == self._ctx:
            parts = [part.copy() for part in parts]
        return type(self)._make(self._shape, parts[0], parts[1:], context, self._trusted)

    def as_in_ctx(self, context: Context) -> NDArray:
        """The array on `context`; itself when it is there already."""
        return self.as_in_context(context)

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The values in another dtype, in the same storage type."""
        wanted = np.dtype(dtype)
        return self if not copy and wanted == self._values.dtype else self._like(self._values.astype(wanted))

    def copyto(self, other: NDArray | Context) -> Any:
        """Copy the values into `other`, a dense array or one of the same storage type, or to a device.

        Raises TypeError for another storage type, MXNetError for another shape.
        """
        if isinstance(other, Context):
            return self.as_in_context(other, True)
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other.stype not in ("default", self.stype):
            raise TypeError(f"copyto does not support a destination of storage type {other.stype}")
        self._check_same_shape(other)
        refuse_inplace(other)
        if isinstance(other, BaseSparseNDArray):
            moved = self.as_in_context(other._ctx, True)
            assert isinstance(moved, BaseSparseNDArray)
            other._values = moved._values.astype(other._values.dtype, copy=False)
            other._aux, other._trusted = moved._aux, moved._trusted
        else:
            other._store(to_device(self._dense(), other._ctx))
        return other

    def _check_same_shape(self, other: Any) -> None:
        if tuple(other.shape) != self._shape:
            raise MXNetError(f"an array of shape {tuple(other.shape)} does not match the sparse shape {self._shape}")

    def check_format(self, full_check: bool = True) -> None:
        """Raise MXNetError when the index arrays contradict the shape or each other."""
        raise NotImplementedError

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Not possible for a sparse array: raises NotSupportedForSparseNDArray."""
        raise NotSupportedForSparseNDArray("reshape", None, *shape)

    # Between arrays of one shape these stay sparse where the storage types allow it.
    def __add__(self, other: Any) -> NDArray:
        from autohybrid.tensor.sparse import add

        return add(self, other)  # type: ignore[no-any-return]

    def __sub__(self, other: Any) -> NDArray:
        from autohybrid.tensor.sparse import subtract

        return subtract(self, other)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> NDArray:
        from autohybrid.tensor.sparse import multiply

        return multiply(self, other)  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        if not (isinstance(key, slice) and key == slice(None)):
            raise NotSupportedForSparseNDArray(f"{type(self).__name__}.__setitem__ with a part of the array")
        if isinstance(value, NDArray):
            self._check_same_shape(value)
            if isinstance(value, type(self)):
                value.copyto(self)
            else:
                refuse_inplace(self)
                self._store(to_device(value._data, self._ctx))
        elif isinstance(value, np.ndarray):
            self._check_same_shape(value)
            refuse_inplace(self)
            self._store(to_device(value.astype(self._values.dtype), self._ctx))
        else:
            raise ValueError(f"a {type(self).__name__} cannot be filled with {type(value).__name__}; assign an array")

    def __setstate__(self, saved: dict[str, Any]) -> None:
        from autohybrid.tensor.saving import from_record

        source = from_record(saved["handle"])
        assert isinstance(source, BaseSparseNDArray)
        self._shape, self._values, self._aux = source._shape, source._values, source._aux
        self._ctx, self._entry, self._grad, self._trusted = source._ctx, None, None, source._trusted

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).__new__, (type(self),), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        from autohybrid.tensor.saving import to_record

        return {"handle": to_record(self)}


class CSRNDArray(BaseSparseNDArray):
    """A matrix stored by rows: `data[indptr[i]:indptr[i + 1]]` are row i's values, in the columns `indices[...]`.

    Make one with `nd.sparse.csr_matrix` or `x.tostype('csr')`.
    """

    __slots__ = ()
    stype = "csr"
    _num_aux = 2

    @property
    def indptr(self) -> NDArray:
        """Where each row starts in `data` and `indices`, int64, one entry more than rows."""
        return wrap(self._aux[0], self._ctx)

    @property
    def indices(self) -> NDArray:
        """The column of each stored value, int64."""
        return wrap(self._aux[1], self._ctx)

    def row_numbers(self) -> Array:
        """The row of each stored value."""
        self._ensure_fitting()
        xp = array_namespace(self._values)
        starts = self._aux[0]
        return xp.searchsorted(starts, xp.arange(self._values.shape[0]), side="right") - 1

    def _dense(self) -> Array:
        xp = array_namespace(self._values)
        dense = xp.zeros(self._shape, dtype=self._values.dtype)
        dense[self.row_numbers(), self._aux[1]] = self._values
        return dense

    @classmethod
    def _compress(cls, dense: Array) -> tuple[Array, tuple[Array, ...]]:
        xp = array_namespace(dense)
        rows, columns = xp.nonzero(dense)
        starts = xp.searchsorted(rows, xp.arange(dense.shape[0] + 1), side="left")
        return dense[rows, columns], (starts.astype("int64"), columns.astype("int64"))

    def rows(self, begin: int, end: int) -> CSRNDArray:
        """The rows from `begin` up to `end`."""
        self._ensure_fitting()
        starts = self._aux[0]
        first, last = int(starts[begin]), int(starts[end])
        pointers = starts[begin : end + 1] - first
        shape = (end - begin, self._shape[1])
        made = type(self)._make(
            shape, self._values[first:last].copy(), (pointers, self._aux[1][first:last].copy()), self._ctx
        )
        assert isinstance(made, CSRNDArray)
        return made

    def __getitem__(self, key: Any) -> NDArray:
        count = self._shape[0]
        if isinstance(key, (int, np.integer)):
            if not -count <= key < count:
                raise IndexError(f"row {key} is out of range for a csr array of {count} rows")
            return self.rows(int(key) % count, int(key) % count + 1)
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError("a csr array can only be sliced with step 1, along its rows")
            if key.start is None and key.stop is None:
                return self
            begin, end, _ = key.indices(count)
            if begin >= end:
                raise MXNetError(f"the slice {begin}:{end} of a csr array is empty")
            return self.rows(begin, end)
        if isinstance(key, tuple):
            raise ValueError("a csr array can only be indexed by rows; `slice` takes both axes")
        raise IndexError(f"a csr array cannot be indexed by {type(key).__name__}")

    def asscipy(self) -> Any:
        """The matrix as a `scipy.sparse.csr_matrix`. Raises ImportError without SciPy."""
        from scipy.sparse import csr_matrix

        indptr, indices = [to_host(part) for part in self._aux]
        return csr_matrix((to_host(self._values), indices, indptr), shape=self._shape)

    def check_format(self, full_check: bool = True) -> None:
        """Raise MXNetError when the index arrays contradict the shape or each other; with `full_check` also when the
        columns of a row do not grow."""
        starts, columns = [to_host(part) for part in self._aux]
        if starts.shape != (self._shape[0] + 1,) or starts[0] != 0 or starts[-1] != len(columns):
            raise MXNetError(f"csr: `indptr` must have {self._shape[0] + 1} entries, from 0 to {len(columns)}")
        if (np.diff(starts) < 0).any() or (columns < 0).any() or (columns >= self._shape[1]).any():
            raise MXNetError(f"csr: `indptr` must not fall, and `indices` lie between 0 and {self._shape[1] - 1}")
        same_row = np.ones(max(len(columns) - 1, 0), bool)
        inner = starts[1:-1]
        same_row[inner[(inner > 0) & (inner < len(columns))] - 1] = False
        if full_check and (np.diff(columns) <= 0)[same_row].any():
            raise MXNetError("csr: `indices` must grow within each row")


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which few slices along the first axis are stored: `data[k]` is slice `indices[k]`, others are zero.

    Make one with `nd.sparse.row_sparse_array` or `x.tostype('row_sparse')`.
    """

    __slots__ = ()
    stype = "row_sparse"
    _num_aux = 1

    @property
    def indices(self) -> NDArray:
        """The places of the stored slices, int64."""
        return wrap(self._aux[0], self._ctx)

    def _dense(self) -> Array:
        self._ensure_fitting()
        dense = array_namespace(self._values).zeros(self._shape, dtype=self._values.dtype)
        dense[self._aux[0]] = self._values
        return dense

    @classmethod
    def _compress(cls, dense: Array) -> tuple[Array, tuple[Array, ...]]:
        xp = array_namespace(dense)
        rows = xp.flatnonzero((dense != 0).any(axis=tuple(range(1, dense.ndim))))
        return dense[rows], (rows.astype("int64"),)

    def retain(self, indices: Any) -> NDArray:
        """The array with only the slices at `indices` kept."""
        from autohybrid.tensor.gradient_namespace import gradient_namespace

        return gradient_namespace()._sparse_retain(self, indices)  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> NDArray:
        if isinstance(key, slice) and key == slice(None):
            return self
        raise NotSupportedForSparseNDArray("RowSparseNDArray.__getitem__ with a part of the array")

    def check_format(self, full_check: bool = True) -> None:
        """Raise MXNetError when the indices contradict the shape or are not strictly growing."""
        rows = to_host(self._aux[0])
        if rows.shape != self._values.shape[:1]:
            raise MXNetError(f"row_sparse: {len(rows)} indices for {self._values.shape[0]} stored slices")
        if (rows < 0).any() or (rows >= self._shape[0]).any():
            raise MXNetError(f"row_sparse: `indices` must lie between 0 and {self._shape[0] - 1}")
        if full_check and (np.diff(rows) <= 0).any():
            raise MXNetError("row_sparse: `indices` must grow")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (int, float, np.number)) and isinstance(key, slice) and key == slice(None):
            refuse_inplace(self)
            xp = array_namespace(self._values)
            self._store(xp.full(self._shape, value, dtype=self._values.dtype))
        else:
            super().__setitem__(key, value)


CLASSES: dict[str, type[BaseSparseNDArray]] = {"csr": CSRNDArray, "row_sparse": RowSparseNDArray}


def compress(array: NDArray, stype: str) -> BaseSparseNDArray:
    """A dense array in storage type 'csr' or 'row_sparse'."""
    cls = CLASSES[stype]
    values, aux = cls._compress(array._data)
    return cls._make(array.shape, values, aux, array._ctx)
