"""Subscripts of arrays: `x[key]` and `x[key] = value` with MXNet 1.9.1's meaning (the rules are in `subscripts.py`).

A subscript whose elements lie side by side gives a view that shares memory, any other a copy. While recording, reads
are made of operators, so that gradients flow; while a graph is built, reads and writes are staged in it.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from autohybrid import numpy_semantics
from autohybrid.errors import MXNetError
from autohybrid.tensor.array import INPLACE_REFUSED, NDArray, refuse_inplace, wrap
from autohybrid.tensor.backend import array_namespace, to_device, to_host
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.subscripts import Span, Subscript, fitted_shape, freeze, parse, read, write
from autohybrid.tensor.tape import state
from autohybrid.tensor.versions import changes, note_write


def get_item(self: NDArray, key: Any) -> NDArray:
    """`self[key]`.

    Raises IndexError (outside the array, too many indices), ValueError (not a key), MXNetError (nothing selected).
    """
    if state.builder is not None:
        return _staged_read(state.builder, self, key)
    recorded = state.recording and self._entry is not None
    if type(key) is int and not recorded:
        return _row(self, key)
    subscript = _plan(self, key)
    if subscript.identity:
        return self
    if recorded:
        return read(gradient_namespace(), self, subscript, lambda host: _constant(self, host))  # type: ignore[no-any-return]
    if subscript.is_empty and not (subscript.empty_rows or numpy_semantics.is_np_shape()):
        raise subscript.refusal()
    return wrap(_selected(self, subscript), self._ctx)


_plans: dict[Any, Subscript] = {}


def _plan(self: NDArray, key: Any, writing: bool = False) -> Subscript:
    """The parsed key; those without index arrays are remembered."""
    frozen = freeze(key)
    if frozen is None:
        return parse(_on_host(key), self.shape, _no_tensor, writing)
    place = (self._data.shape, frozen)
    found = _plans.get(place)
    if found is None:
        if len(_plans) > 8192:
            _plans.clear()
        found = _plans[place] = parse(key, self.shape, _no_tensor, writing)
    return found


def _row(self: NDArray, index: int) -> NDArray:
    data = contiguous(self)
    extent = data.shape[0] if data.ndim else 0
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {extent}")
    if data.ndim > 1:
        return wrap(data[index], self._ctx)
    index %= extent
    return wrap(data[index : index + 1], self._ctx)


def _selected(self: NDArray, subscript: Subscript) -> Any:
    """The elements, sharing memory where the subscript is contiguous."""
    data = contiguous(self)
    xp = array_namespace(data)
    if subscript.advanced:
        return xp.ascontiguousarray(data[subscript.numpy_key(xp.asarray)])
    part = data[subscript.basic_key]
    if not subscript.contiguous:
        part = part.copy()
    return part if part.shape == subscript.result_shape else part.reshape(subscript.result_shape)


def contiguous(self: NDArray) -> Any:
    """The memory of an array in C order, as views need it; rearranged once if a kernel left it otherwise."""
    data = self._data
    if not data.flags.c_contiguous:
        data = self._data = array_namespace(data).ascontiguousarray(data)
        changes.move()
    return data


def set_item(self: NDArray, key: Any, value: Any) -> None:
    """`self[key] = value`: a number, or something whose shape broadcasts to that of `self[key]`; cast to the dtype.

    Raises what reading raises, ValueError for a shape that does not fit, TypeError for a value that is no array, and
    MXNetError while recording, when the array, or a value written into a part of it, belongs to the recorded graph.
    """
    if state.builder is not None:
        _staged_write(state.builder, self, key, value)
        return
    refuse_inplace(self)
    subscript = _plan(self, key, writing=True)
    if state.recording and isinstance(value, NDArray) and value._entry is not None:
        _write_recorded(self, subscript, value)
        return
    if subscript.is_empty:
        return
    data = self._data
    if type(value) in (int, float) and data.dtype.kind == "f" and not subscript.advanced:
        data[subscript.basic_key] = value
        note_write(data)
        return
    given = _as_value(self, value)
    if given.ndim and given.shape != subscript.region_shape:
        fitted = iter(fitted_shape(given.shape, subscript))
        given = given.reshape(_aligned(subscript, fitted))
    data[subscript.numpy_key(array_namespace(data).asarray)] = given
    note_write(data)


def _aligned(subscript: Subscript, extents: Any) -> tuple[int, ...]:
    """The extents of a fitted value, with 1 where the selected region has an axis that the target has not."""
    if subscript.advanced:
        return tuple(1 if extent is None else next(extents) for extent in subscript.layout)
    return tuple(next(extents) if isinstance(e, Span) else 1 for e in subscript.entries)


def _as_value(self: NDArray, value: Any) -> Any:
    """The value as an array of this array's dtype, on its device."""
    dtype = self._data.dtype
    if isinstance(value, NDArray):
        data = to_device(value._data, self._ctx)
        return data if data.dtype == dtype else data.astype(dtype)
    if isinstance(value, (numbers.Real, np.generic)):
        with np.errstate(all="ignore"):
            return array_namespace(self._data).asarray(_host_value(value, dtype))
    return to_device(_host_value(value, dtype), self._ctx)


def _host_value(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """A number, list or NumPy array in `dtype`, with C's rules of conversion. Raises TypeError for anything else."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "biuf":
        raise TypeError(f"an NDArray does not support assignment with the object {value!r} of type {type(value)}")
    return found if found.dtype == dtype else found.astype(dtype)


def _write_recorded(self: NDArray, subscript: Subscript, value: NDArray) -> None:
    """Overwrite all of an array that is not recorded by a recorded value: the array joins the graph."""
    if not subscript.whole:
        raise MXNetError(
            f"{INPLACE_REFUSED}: a recorded array was written into a part of another array; build the result "
            "with `nd.concat`, `nd.stack` or `nd.where`"
        )
    F = gradient_namespace()
    if value.dtype != self.dtype:
        value = F.Cast(value, dtype=self.dtype)
    result = write(F, self, subscript, F._copy(value), value.shape, lambda host: _constant(self, host))
    self._store(to_device(result._data, self._ctx))
    self._entry = result._entry


# -- index arrays ------------------------------------------------------------------------------------------------------
def _on_host(key: Any) -> Any:
    """The key with NDArrays replaced by their values; checking that they lie inside the array needs those anyway."""
    if isinstance(key, NDArray):
        return _host_index(key)
    if isinstance(key, tuple):
        return tuple(_host_index(k) if isinstance(k, NDArray) else k for k in key)
    return key


def _host_index(index: NDArray) -> np.ndarray[Any, Any]:
    _refuse_boolean(index.dtype)
    return to_host(index._data)


def _refuse_boolean(dtype: Any) -> None:
    if np.dtype(dtype) == np.bool_ and not numpy_semantics.is_np_array():
        raise ValueError(
            "boolean arrays are no indices of classic arrays; use `nd.contrib.boolean_mask` or `nd.where`, or numpy "
            "semantics (`mx.npx.set_np()`)"
        )


def _no_tensor(part: Any) -> None:
    return None


def _constant(like: NDArray, host: np.ndarray[Any, Any]) -> NDArray:
    return wrap(to_device(host, like._ctx), like._ctx)


# -- while a graph is built --------------------------------------------------------------------------------------------
def _staged_read(builder: Any, self: NDArray, key: Any) -> NDArray:
    base = builder.lift(self)
    subscript = parse(key, base.shape, lambda part: _tensor_shape(builder, part))
    if subscript.identity:
        return self
    F = gradient_namespace()

    def constant(host: np.ndarray[Any, Any]) -> Any:
        return builder.lift(_constant(base, host))

    if not subscript.contiguous:
        return read(F, base, subscript, constant)  # type: ignore[no-any-return]
    shape = subscript.result_shape
    return builder.view(  # type: ignore[no-any-return]
        base,
        lambda whole: read(F, whole, subscript, constant),
        lambda whole, part: write(F, whole, subscript, part, shape, constant),
    )


def _staged_write(builder: Any, self: NDArray, key: Any, value: Any) -> None:
    base = builder.lift(self)
    subscript = parse(key, base.shape, lambda part: _tensor_shape(builder, part), writing=True)
    F = gradient_namespace()
    shape: tuple[int, ...] | None = None
    if isinstance(value, NDArray):
        value = builder.lift(value)
        shape = value.shape
        if value.dtype != base.dtype:
            value = F.Cast(value, dtype=base.dtype)
    elif isinstance(value, (numbers.Real, np.generic)):
        value = float(value)
    else:
        value = builder.lift(_constant(base, _host_value(value, np.dtype(base.dtype))))
        shape = value.shape
    changed = write(F, base, subscript, value, shape, lambda host: builder.lift(_constant(base, host)))
    if changed is not base:
        base.assign(changed.head)


def _tensor_shape(builder: Any, part: Any) -> tuple[int, ...] | None:
    if not isinstance(part, NDArray):
        return None
    tensor: NDArray = builder.lift(part)
    _refuse_boolean(tensor.dtype)
    return tensor.shape


def _is_contiguous(slc_key: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether `x[slc_key]` of an array of this shape shares its memory; the name on NDArray is MXNet's."""
    return parse(slc_key, shape, _no_tensor).contiguous


def install(cls: type[NDArray]) -> None:
    """Attach subscripts to `cls`."""
    cls._basic_indexing_slice_is_contiguous = staticmethod(_is_contiguous)  # type: ignore[attr-defined]
    cls.__getitem__ = get_item  # type: ignore[method-assign]
    cls.__setitem__ = set_item  # type: ignore[method-assign]
