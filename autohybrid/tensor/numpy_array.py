"""`mx.np.ndarray`: an NDArray with numpy's semantics, as MXNet 1.9.1 has them.

Differences to the classic array: shapes `()` and with extents of 0 exist, a comparison gives a boolean array, dtypes
are promoted by `tensor/ops/np_arithmetic.py`, a reduction of every axis leaves no axis, an integer in a subscript takes
its axis away, boolean arrays are masks. `tensor/numpy_methods.py` attaches operators, subscripts and methods.

Every operator that gets such an array gives such arrays; so blocks of the library compute on either kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.tensor.array import NDArray, array_on


class ndarray(NDArray):
    """An n-dimensional array on a device with numpy's semantics. Create one with `mx.np.array`, `mx.np.zeros`...

    >>> import autohybrid as mx
    >>> mx.np.ones((2, 3)).sum().item()
    6.0
    """

    __slots__ = ()
    is_numpy = True

    # The inherited methods would speak of classic arrays.
    def as_np_ndarray(self) -> ndarray:
        """Itself."""
        return self

    def as_nd_ndarray(self) -> NDArray:
        """The classic array over the same memory, in the same recorded graph."""
        return _shared(self).as_class(numpy=False)

    def item(self, *place: int) -> Any:
        """One element as a Python number. Raises ValueError when there are several and no place is given."""
        return self.asnumpy().item(*place)

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.asnumpy().tolist()

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """As for classic arrays; the gradient is an `mx.np` array too."""
        super().attach_grad(grad_req, stype)
        if self._grad is not None:
            self._grad.as_class(numpy=True)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        """As numpy shows it, with the dtype where it is not float32, and the device where it is no CPU."""
        values = self.asnumpy()
        text = np.array_repr(values)
        name = values.dtype.name
        if name in ("float32", "bool"):
            text = _without_dtype(text, name)
        elif name not in text:
            text = f"{text[:-1]}, dtype={name})"
        if self._ctx.device_type == "cpu":
            return text
        return f"{text[:-1]}, ctx={self._ctx})"

    def __str__(self) -> str:
        values = str(self.asnumpy())
        return values if self._ctx.device_type == "cpu" or self.ndim == 0 else f"{values} @{self._ctx}"

    def __format__(self, text: str) -> str:
        """Numbers are formatted as numbers. Raises TypeError for a format given to anything with axes."""
        if self.ndim == 0:
            return format(self.item(), text)
        if text:
            raise TypeError("unsupported format string passed to an mx.np array with axes")
        return str(self)

    def __round__(self, n: int = 0) -> Any:
        return self.round(n)

    __hash__ = NDArray.__hash__


#: The classes of arrays whose elements lie in one block of memory, and nothing else is known of them.
DENSE = (NDArray, ndarray)


def _without_dtype(text: str, name: str) -> str:
    head, mark, tail = text.rpartition(f", dtype={name}")
    if not mark:
        head, mark, tail = text.rpartition(f",\n      dtype={name}")
    return head + tail if mark else text


def _shared(array: NDArray) -> NDArray:
    """Another handle on the array's memory, in the same recorded graph, with the same gradient."""
    other = array._alias(array._entry)
    other._grad = array._grad
    return other


def numpy_view(array: NDArray) -> ndarray:
    """The `mx.np` array over the memory of a classic one, in the same recorded graph."""
    return _shared(array).as_class(numpy=True)  # type: ignore[return-value]


def array(object: Any, dtype: Any = None, ctx: Any = None) -> ndarray:
    """An `mx.np` array with the values of a number, nested sequences, or an array.

    float32 unless `dtype` says otherwise or an array brings its own.
    """
    if isinstance(object, NDArray):
        dtype = dtype or object.dtype
        object = object.asnumpy()
    elif dtype is None:
        dtype = _own_dtype(object)
        object = _on_host(object)
    else:
        object = _on_host(object)
    return array_on(object, ctx, dtype).as_class(numpy=True)  # type: ignore[return-value]


def _own_dtype(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype
    return "float32"


def _on_host(value: Any) -> Any:
    """Sequences of arrays as sequences of host arrays."""
    if isinstance(value, NDArray):
        return value.asnumpy()
    if isinstance(value, (list, tuple)) and any(isinstance(v, (NDArray, list, tuple)) for v in value):
        return type(value)(map(_on_host, value)) if type(value) in (list, tuple) else [_on_host(v) for v in value]
    return value
