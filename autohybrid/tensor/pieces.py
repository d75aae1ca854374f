"""Pieces: working memory of a kernel cut from one array, so that generated code can keep it between calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

#: Makes an array of a shape and dtype, as `numpy.empty` does.
Empty = Callable[[Sequence[int], Any], Any]


class Pieces:
    """Cuts arrays from a flat one, one behind another; what does not fit is made by `empty`."""

    __slots__ = ("_empty", "_flat", "_start")

    def __init__(self, flat: Any, empty: Empty) -> None:
        self._flat = flat
        self._empty = empty
        self._start = 0

    def __call__(self, shape: Sequence[int], dtype: Any) -> Any:
        """An array with unknown contents."""
        size = math.prod(shape)
        stop = self._start + size
        if stop > self._flat.size or self._flat.dtype != dtype:
            return self._empty(shape, dtype)
        piece = self._flat[self._start : stop].reshape(shape)
        self._start = stop
        return piece
