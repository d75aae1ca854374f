"""Subscripts of arrays: `x[key]` and `x[key] = value` with MXNet 1.9.1's meaning."""

from __future__ import annotations

from typing import Any

from autohybrid.tensor.array import NDArray, refuse_inplace, wrap
from autohybrid.tensor.backend import to_device


def get_item(self: NDArray, key: Any) -> NDArray:
    """`self[key]`: a view for a subscript of the first axis, a copy for any other."""
    result = self._data[key]
    return wrap(result if result.ndim else result.reshape(1), self._ctx)


def set_item(self: NDArray, key: Any, value: Any) -> None:
    """`self[key] = value`. Raises MXNetError while recording, when the array is part of the graph."""
    refuse_inplace(self)
    self._data[key] = to_device(value._data, self._ctx) if isinstance(value, NDArray) else value


def install(cls: type[NDArray]) -> None:
    """Attach subscripts to `cls`."""
    cls.__getitem__ = get_item  # type: ignore[method-assign]
    cls.__setitem__ = set_item  # type: ignore[method-assign]
