"""Subscripts of `mx.np` arrays: those of classic arrays (`tensor/indexing.py`) with numpy's shapes, and boolean masks.

An integer takes its axis away, also the last one; nothing may be selected; a boolean array picks the elements where it
is true, and stands for the positions of these, so its values are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.tensor import indexing
from autohybrid.tensor.array import NDArray, refuse_inplace, wrap
from autohybrid.tensor.backend import array_namespace, to_host
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.subscripts import parse
from autohybrid.tensor.tape import state
from autohybrid.tensor.versions import note_write


def get_item(self: NDArray, key: Any) -> NDArray:
    """`self[key]`. Raises IndexError for a position outside the array, or a mask of another shape."""
    if type(key) is int and state.builder is None and self._data.ndim > 1:
        return indexing.get_item(self, key).as_class(numpy=True)
    if key is Ellipsis or (isinstance(key, tuple) and (not key or (len(key) == 1 and key[0] is Ellipsis))):
        return self
    if _is_mask(key) and _shape_of_mask(key) == ():
        # One truth value keeps or drops the whole array, along a new axis.
        keeps = bool(key.item() if isinstance(key, NDArray) else key)
        whole = _reshaped(self, (1, *self.shape))
        return whole if keeps else _nothing(self, (0, *self.shape))
    key = _without_masks(self, key)
    if not self.shape:
        return _of_scalar(self, key)
    builder = state.builder
    if builder is not None:
        base = builder.lift(self)
        subscript = parse(key, base.shape, lambda part: indexing._tensor_shape(builder, part))
    else:
        subscript = indexing._plan(self, key)
    shape = tuple(1 if extent is None else extent for extent in subscript.layout)
    if 0 in shape:
        return _nothing(self, shape)
    found: NDArray = indexing.get_item(self, key)
    if found is self:
        return self
    if shape == found.shape:
        return found.as_class(numpy=True)
    return _reshaped(found, shape)


def _reshaped(found: NDArray, shape: tuple[int, ...]) -> NDArray:
    """The same elements (and memory, outside graphs) in numpy's shape."""
    if state.builder is not None or (state.recording and found._entry is not None):
        return gradient_namespace()._np_reshape(found, newshape=shape)  # type: ignore[no-any-return]
    return wrap(found._data.reshape(shape), found._ctx).as_class(numpy=True)


def _nothing(self: NDArray, shape: tuple[int, ...]) -> NDArray:
    """An array without elements, in the dtype and on the device of `self`."""
    F = gradient_namespace()
    flat = F._np_reshape(self, newshape=(-1,))
    return F._np_reshape(F.slice(flat, begin=(0,), end=(0,)), newshape=shape)  # type: ignore[no-any-return]


def _of_scalar(self: NDArray, key: Any) -> NDArray:
    """A subscript of an array without axes: `None` adds one. Raises IndexError for anything else."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(part is not None and part is not Ellipsis for part in parts):
        raise IndexError("too many indices for array: it has no axes")
    return _reshaped(self, (1,) * sum(part is None for part in parts))


def set_item(self: NDArray, key: Any, value: Any) -> None:
    """`self[key] = value`, broadcast and cast as numpy does.

    Raises what reading raises, ValueError for a shape that does not fit, and MXNetError while recording, when the array
    is part of the recorded graph.
    """
    builder = state.builder
    if builder is not None:
        _set_staged(builder, self, key, value)
        return
    refuse_inplace(self)
    recorded = state.recording and isinstance(value, NDArray) and value._entry is not None
    if recorded and self.shape:
        indexing.set_item(self, _without_masks(self, key), value)
        return
    data = self._data
    xp = array_namespace(data)
    given = indexing._as_value(self, value)
    data[_device_key(self, key, xp)] = given
    note_write(data)


def _device_key(self: NDArray, key: Any, xp: Any) -> Any:
    """The key as the array library takes it: index arrays as integers on the device."""

    def part(k: Any) -> Any:
        if isinstance(k, (list, np.ndarray)):
            k = xp.asarray(k)
        elif isinstance(k, NDArray):
            k = k._data
        else:
            return k
        return k if k.dtype.kind in "biu" else k.astype("int64")

    return tuple(part(k) for k in key) if isinstance(key, tuple) else part(key)


def _set_staged(builder: Any, self: NDArray, key: Any, value: Any) -> None:
    mask = _mask_in(key)
    if mask is None:
        indexing._staged_write(builder, self, key, value)
        return
    if isinstance(key, tuple) and len(key) > 1:
        raise builder.host_value("the values of a boolean mask beside other indices")
    F = gradient_namespace()
    base = builder.lift(self)
    lifted = builder.lift(mask if isinstance(mask, NDArray) else indexing._constant(base, np.asarray(mask)))
    behind = len(base.shape) - len(lifted.shape)
    wide = F._np_reshape(lifted, newshape=(*lifted.shape, *[1] * behind))
    if isinstance(value, NDArray):
        value = builder.lift(value)
        if value.shape not in ((), (1,)):
            raise builder.host_value("how many elements a boolean mask selects")
        changed = F._npi_where(wide, F._cast_as(value, base), base)
    else:
        changed = F._npi_where_lscalar(wide, base, scalar=float(value))
    base.assign(changed.head)


# -- masks -------------------------------------------------------------------------------------------------------------
def _is_mask(part: Any) -> bool:
    if isinstance(part, NDArray):
        return np.dtype(part.dtype) == np.bool_
    if isinstance(part, (list, np.ndarray)):
        return np.asarray(part).dtype == np.bool_
    return False


def _shape_of_mask(mask: Any) -> tuple[int, ...]:
    return tuple(mask.shape) if hasattr(mask, "shape") else np.shape(mask)


def _mask_in(key: Any) -> Any:
    """The first boolean array in a key; None if there is none."""
    parts = key if isinstance(key, tuple) else (key,)
    return next((part for part in parts if _is_mask(part)), None)


def _without_masks(self: NDArray, key: Any) -> Any:
    """The key with the positions that boolean arrays stand for in their places."""
    if _mask_in(key) is None:
        return key
    parts: list[Any] = []
    listed = key if isinstance(key, tuple) else (key,)
    axis = 0
    for place, part in enumerate(listed):
        if part is Ellipsis:
            behind = sum(_width(p) for p in listed[place + 1 :])
            axis = self.ndim - behind
        elif _is_mask(part):
            mask = to_host(part._data) if isinstance(part, NDArray) else np.asarray(part)
            if mask.shape != self.shape[axis : axis + mask.ndim]:
                raise IndexError(
                    f"a boolean index of shape {mask.shape} does not match the array of shape {self.shape} from "
                    f"axis {axis} on"
                )
            parts += np.nonzero(mask)
            axis += mask.ndim
            continue
        else:
            axis += _width(part)
        parts.append(part)
    return tuple(parts)


def _width(part: Any) -> int:
    """How many axes a part of a key takes."""
    if part is None:
        return 0
    return len(_shape_of_mask(part)) if _is_mask(part) else 1


def install(cls: type[NDArray]) -> None:
    """Attach subscripts to `cls`."""
    cls.__getitem__ = get_item  # type: ignore[method-assign]
    cls.__setitem__ = set_item  # type: ignore[method-assign]
