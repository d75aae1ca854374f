"""Nested Python values with arrays in them: taken apart to a flat list and a description, and put together again.

The description is hashable and part of a compiled block's cache key: another structure of arguments is another graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, TypeGuard

import numpy as np

from autohybrid.context import Context
from autohybrid.errors import HybridizeError, MXNetError
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.numpy_array import ndarray

#: The description of one value: 'array', 'numpy array', ('static', type, value), or (container type, keys or None,
#: parts).
Structure = Any
ARRAY = "array"
NUMPY_ARRAY = "numpy array"


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type, slice, np.generic, np.dtype, Context, Enum)


def flatten(value: Any, arrays: list[Any], plain_only: bool = False) -> Structure:
    """Append the arrays in `value` to `arrays`, left to right, and describe the rest.

    Raises MXNetError for a value that cannot be compared by hash; with `plain_only` (results), also for any object that
    is no number, text, None or the like, as it might hold stand-ins for arrays.
    """
    if isinstance(value, NDArray):
        arrays.append(value)
        return NUMPY_ARRAY if isinstance(value, ndarray) else ARRAY
    if isinstance(value, dict):
        return (type(value), tuple(value), tuple([flatten(v, arrays, plain_only) for v in value.values()]))
    if isinstance(value, (list, tuple)):
        return (type(value), None, tuple([flatten(v, arrays, plain_only) for v in value]))
    if not isinstance(value, _PLAIN):
        try:
            hash(value)
        except TypeError:
            raise MXNetError(_unfit(value, "arguments")) from None
        if plain_only:
            raise HybridizeError(_unfit(value, "results"))
    return ("static", type(value), value)


def _unfit(value: Any, where: str) -> str:
    return (
        f"a value of type {type(value).__name__} cannot be among the {where} of a hybridized block; use NDArrays, "
        "numbers, text, None, or lists, tuples and dicts of them"
    )


def unflatten(structure: Structure, arrays: Iterator[Any]) -> Any:
    """The value that `structure` describes, with the next of `arrays`, which the caller made, in each array's place."""
    if structure == ARRAY:
        return next(arrays)
    if structure == NUMPY_ARRAY:
        return next(arrays).as_class(numpy=True)
    kind, keys, parts = structure
    if kind == "static":
        return parts
    values = [unflatten(part, arrays) for part in parts]
    if keys is not None:
        return _rebuild_dict(kind, zip(keys, values))
    if is_namedtuple(kind):
        return kind(*values)
    return kind(values)


def is_namedtuple(kind: type) -> TypeGuard[type[tuple[Any, ...]]]:
    """Whether a class is a namedtuple."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _rebuild_dict(kind: type, items: Any) -> Any:
    return dict(items) if kind is dict else kind(items)


def arrays_in(values: Sequence[Any]) -> list[Any]:
    """Every array in nested values, left to right."""
    found: list[Any] = []
    for value in values:
        flatten(value, found)
    return found
