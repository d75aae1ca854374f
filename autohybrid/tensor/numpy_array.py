"""`mx.np.ndarray` for files and conversions: an array with numpy's shapes that holds values, but computes nothing.

It is no NDArray, so that an operator refuses it instead of computing with classic dtype and shape rules; convert with
`as_nd_ndarray()`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.context import Context
from autohybrid.tensor.array import NDArray, array_on


class ndarray:
    """Values on a device with numpy's shapes: `()` is a scalar. Shares memory with the NDArray it was made of."""

    __slots__ = ("_array",)

    def __init__(self, array: NDArray) -> None:
        self._array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._array.shape

    @property
    def dtype(self) -> type[np.generic]:
        """The NumPy scalar type of the elements."""
        return self._array.dtype

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._array.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    @property
    def ctx(self) -> Context:
        """The device the array lives on."""
        return self._array.ctx

    context = ctx

    def __len__(self) -> int:
        return len(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._array.__array__(dtype)

    def __repr__(self) -> str:
        return repr(self.asnumpy())

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A NumPy copy of the values."""
        return self._array.asnumpy()

    def item(self, *place: int) -> Any:
        """One element as a Python number."""
        return self.asnumpy().item(*place)

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.asnumpy().tolist()

    def as_np_ndarray(self) -> ndarray:
        """Itself."""
        return self

    def as_nd_ndarray(self) -> NDArray:
        """The classic array over the same memory."""
        return self._array

    def wait_to_read(self) -> None:
        """Return when the values are there."""
        self._array.wait_to_read()


def array(object: Any, dtype: Any = None, ctx: Context | None = None) -> ndarray:
    """An `mx.np` array of values: float32 unless `dtype` says otherwise or an array brings its own."""
    if dtype is None:
        dtype = getattr(object, "dtype", None) or "float32"
    return ndarray(array_on(object.asnumpy() if hasattr(object, "asnumpy") else object, ctx, dtype))
