"""Copies of arrays to another dtype or device, through which gradients pass: `copy`, `copyto`, `astype`..."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import MXNetError
from autohybrid.tensor.array import NDArray, refuse_inplace, wrap
from autohybrid.tensor.backend import to_device
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.tape import TapeNode, state


def copied(source: NDArray, ctx: Context, dtype: Any = None) -> NDArray:
    """A fresh array with the values of `source`, on `ctx` and in `dtype` (default: its own)."""
    if state.builder is not None or (state.recording and source._entry is not None):
        F = gradient_namespace()
        same = dtype is None or np.dtype(source.dtype) == np.dtype(dtype)
        return _moved(F._copy(source) if same else F.Cast(source, dtype=dtype), ctx)
    data = source._data
    with np.errstate(all="ignore"):
        return wrap(to_device(data.copy() if dtype is None else data.astype(dtype), ctx), ctx)


def _moved(source: NDArray, ctx: Context) -> NDArray:
    """`source` on another device; its gradient comes back to the device of `source`."""
    if source._ctx == ctx or state.builder is not None:
        return source
    result = wrap(to_device(source._data, ctx), ctx)
    if state.recording and source._entry is not None:
        node = TapeNode("_copyto", _move_back, None, (source,), (result._data,), state.training)
        result._entry = (node, 0)
    return result


def _move_back(F: Any, node: Any, heads: Sequence[NDArray]) -> NDArray:
    return as_in_context(heads[0], node.inputs[0]._ctx)


def copy(self: NDArray) -> NDArray:
    """A copy on the same device."""
    return copied(self, self._ctx)


def astype(self: NDArray, dtype: Any, copy: bool = True) -> NDArray:
    """The values in another dtype; the array itself when it has that dtype and `copy` is False.

    Raises TypeError for something that is no dtype.
    """
    wanted = np.dtype(dtype)
    return self if not copy and wanted == np.dtype(self.dtype) else copied(self, self._ctx, wanted.name)


def as_in_context(self: NDArray, context: Context) -> NDArray:
    """The array on `context`; itself when it is there already."""
    return self if context == self._ctx else copied(self, context)


def copyto(self: NDArray, other: NDArray | Context) -> Any:
    """Copy the values into `other`, an array of the same shape and any dtype, or to a device; returns the copy.

    Raises MXNetError for another shape, and while recording when `other` belongs to the recorded graph; TypeError for
    a target that is neither array nor device. Copying onto itself only warns.
    """
    if isinstance(other, Context):
        return copied(self, other)
    if not isinstance(other, NDArray):
        raise TypeError(f"copyto does not support type {type(other)}")
    if other is self:
        warnings.warn("an array was copied onto itself", RuntimeWarning, stacklevel=2)
        return False
    if other.shape != self.shape:
        raise MXNetError(f"copyto: an array of shape {self.shape} does not fit into one of shape {other.shape}")
    if state.builder is not None:
        state.builder.lift(other).assign(copied(self, other._ctx, other.dtype).head)
        return other
    refuse_inplace(other)
    value = copied(self, other._ctx, other.dtype) if state.recording else self
    with np.errstate(all="ignore"):
        other._store(to_device(value._data, other._ctx))
    if value._entry is not None and state.recording:
        other._entry = value._entry
    return other


def slice_assign(self: NDArray, rhs: NDArray, begin: Any, end: Any, step: Any) -> NDArray:
    """Write `rhs` into the box from `begin` to `end` (tuples, one entry an axis); returns the array."""
    self[tuple(slice(*bounds) for bounds in zip(begin, end, step))] = rhs
    return self


def slice_assign_scalar(self: NDArray, value: float, begin: Any, end: Any, step: Any) -> NDArray:
    """Write a number into the box from `begin` to `end` (tuples, one entry an axis); returns the array."""
    self[tuple(slice(*bounds) for bounds in zip(begin, end, step))] = value
    return self


def install(cls: type[NDArray]) -> None:
    """Attach the methods to `cls`."""
    for method in (copy, astype, as_in_context, copyto, slice_assign, slice_assign_scalar):
        setattr(cls, method.__name__, method)
    cls.as_in_ctx = as_in_context  # type: ignore[attr-defined]
