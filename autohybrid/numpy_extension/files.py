"""`npx.save` and `npx.load`: `.params` files of `mx.np` arrays."""

from __future__ import annotations

import os
from typing import Any

from autohybrid import numpy_semantics
from autohybrid.tensor import saving
from autohybrid.tensor.numpy_array import ndarray, numpy_view


def save(file: str | os.PathLike[str], arr: Any) -> None:
    """Save an `mx.np` array, a list of them or a dict of name -> array. Raises TypeError for other data."""
    with numpy_semantics.np_shape(True):
        saving.save(file, _converted(arr))


def _converted(arr: Any) -> Any:
    if isinstance(arr, ndarray):
        return [arr.as_nd_ndarray()]
    values = list(arr.values()) if isinstance(arr, dict) else arr
    if not isinstance(values, list) or not all(isinstance(v, ndarray) for v in values):
        raise TypeError("npx.save accepts an mx.np array, a list of them or a dict of str -> mx.np array")
    plain = [v.as_nd_ndarray() for v in values]
    return dict(zip(arr, plain)) if isinstance(arr, dict) else plain


def load(file: str | os.PathLike[str]) -> Any:
    """The arrays of a file as `mx.np` arrays: a dict when they were saved with names, else a list."""
    found = saving.read_file(file, "both")
    if isinstance(found, dict):
        return {name: numpy_view(array) for name, array in found.items()}
    return [numpy_view(array) for array in found]
