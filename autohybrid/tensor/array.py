"""NDArray: an array on a device that can take part in autograd. Owns identity, data movement and conversion.

Arithmetic is in `tensor/arithmetic.py`, subscripts in `tensor/indexing.py`, copies in `tensor/copying.py`, `reshape`
and its kin in `tensor/reshaping.py`, the methods that operators provide in `tensor/methods.py`; all are attached when
`autohybrid.ndarray` is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autohybrid.context import Context, cpu, current_context
from autohybrid.errors import MXNetError
from autohybrid.tensor.backend import Array, array_namespace, namespace_of, to_device, to_host
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.tape import Entry, Variable, run_backward, state
from autohybrid.tensor.versions import note_write

_CPU = cpu()
#: How MXNet's message begins, which code looks for.
INPLACE_REFUSED = "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd"


class NDArray:
    """An n-dimensional array on a device, with Gluon's semantics (MXNet 1.9.1's `mx.nd.NDArray`).

    Dtypes are not promoted: mixing them raises. A subscript whose elements lie side by side (`x[i]`, `x[a:b]`...)
    shares memory with `x`; any other copies.
    Create one with `nd.array`, `nd.zeros`...

    >>> import autohybrid as mx
    >>> mx.nd.ones((2, 3)).sum().asscalar()
    6.0
    """

    __slots__ = ("__weakref__", "_ctx", "_data", "_entry", "_grad")
    __array_priority__ = 1000.0
    stype = "default"
    #: Whether it is an `mx.np` array.
    is_numpy = False

    def __init__(self, data: Array, ctx: Context = _CPU) -> None:
        self._data = data
        self._ctx = ctx
        self._entry: Entry | None = None
        self._grad: NDArray | None = None

    # -- what it is ------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self._data.shape  # type: ignore[no-any-return]

    def known_shape(self) -> Shape:
        """What is known of the shape while a graph is built, without making the graph depend on it (-1: unknown)."""
        return self._data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> type[np.generic]:
        """The NumPy scalar type of the elements (`numpy.float32`...)."""
        return self._data.dtype.type  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._data.size)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(self._data.ndim)

    @property
    def context(self) -> Context:
        """The device the array lives on."""
        return self._ctx

    @property
    def ctx(self) -> Context:
        """The device the array lives on."""
        return self._ctx

    @property
    def writable(self) -> bool:
        """Whether the array can be written."""
        return True

    @property
    def handle(self) -> NDArray:
        """What tells two arrays apart: `x.handle is y.handle` when they are one array."""
        return self

    @property
    def T(self) -> NDArray:
        """The array with its axes reversed."""
        return self if self.ndim < 2 else self.transpose()

    @property
    def grad(self) -> NDArray | None:
        """The gradient buffer that `attach_grad` made."""
        return self._grad

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without axes")
        return int(self._data.shape[0])

    def __iter__(self) -> Iterator[NDArray]:
        for index in range(len(self)):
            yield self[index]

    def __bool__(self) -> bool:
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")

    if TYPE_CHECKING:
        # Arithmetic, subscripts and most methods are attached when `autohybrid.ndarray` is imported.
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, key: Any) -> NDArray: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def copyto(self, other: Any) -> Any: ...
        def as_in_context(self, context: Context) -> NDArray: ...
        def __neg__(self) -> NDArray: ...
        def __add__(self, other: Any) -> NDArray: ...
        def __sub__(self, other: Any) -> NDArray: ...
        def __mul__(self, other: Any) -> NDArray: ...
        def __truediv__(self, other: Any) -> NDArray: ...
        def __pow__(self, other: Any) -> NDArray: ...
        def __radd__(self, other: Any) -> NDArray: ...
        def __rsub__(self, other: Any) -> NDArray: ...
        def __rmul__(self, other: Any) -> NDArray: ...
        def __rtruediv__(self, other: Any) -> NDArray: ...

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()!s}\n<{type(self).__name__} {shape} @{self._ctx}>"

    # -- values on the host ------------------------------------------------------------------------------------------
    def asnumpy(self) -> np.ndarray[Any, Any]:
        """A NumPy copy of the values; waits for the device."""
        host = to_host(self._data)
        return host.copy() if host is self._data or host.base is not None else host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """What NumPy's functions take the array for: a copy of its values."""
        host = self.asnumpy()
        return host if dtype is None else host.astype(dtype, copy=False)

    def asscalar(self) -> Any:
        """The one element as a NumPy scalar. Raises ValueError when there are several."""
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return to_host(self._data).reshape(1)[0]

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iu" or self.size != 1:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.asscalar())

    def wait_to_read(self) -> None:
        """Return when the values are there (NumPy computes at once; a GPU's stream is waited for)."""
        xp = namespace_of(self._ctx)
        if xp is not np:
            xp.cuda.get_current_stream().synchronize()

    wait_to_write = wait_to_read

    # -- other kinds of arrays -----------------------------------------------------------------------------------------
    def as_nd_ndarray(self) -> NDArray:
        """Itself: a classic array."""
        return self

    def as_np_ndarray(self) -> Any:
        """The `mx.np` array over the same memory, in the same recorded graph."""
        from autohybrid.tensor.numpy_array import numpy_view

        return numpy_view(self)

    def as_class(self, numpy: bool) -> NDArray:
        """This very array as an `mx.np` array, or as a classic one: for whoever just made it."""
        self.__class__ = _numpy_class() if numpy else NDArray
        return self

    def tostype(self, stype: str) -> NDArray:
        """The array in another storage type: 'default', 'csr' or 'row_sparse'."""
        from autohybrid.tensor.sparse import cast_storage

        return cast_storage(self, stype)

    # -- autograd ----------------------------------------------------------------------------------------------------
    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make this array a leaf whose gradient `backward()` puts into `.grad`. `grad_req`: 'write', 'add', 'null'.

        `stype` is the storage type of the gradient, by default that of the array.
        """
        if grad_req not in ("write", "add", "null"):
            raise ValueError(f"grad_req must be 'write', 'add' or 'null', not {grad_req!r}")
        stype = stype or self.stype
        if stype == "default":
            zeros = wrap(array_namespace(self._data).zeros_like(self._data), self._ctx)
        else:
            from autohybrid.tensor.sparse import zeros as sparse_zeros

            zeros = sparse_zeros(stype, self.shape, self._ctx, self.dtype)
        mark_variable(self, zeros, grad_req)

    @property
    def _fresh_grad(self) -> bool:
        """Whether backward has written this leaf's gradient since the flag was cleared."""
        return self._entry is not None and bool(getattr(self._entry[0], "fresh", False))

    @_fresh_grad.setter
    def _fresh_grad(self, fresh: bool) -> None:
        if self._entry is not None and isinstance(self._entry[0], Variable):
            self._entry[0].fresh = fresh

    def backward(self, out_grad: NDArray | None = None, retain_graph: bool = False, train_mode: bool = True) -> None:
        """Gradients of this array with respect to the attached leaves, with `out_grad` (ones by default) as head."""
        heads = None if out_grad is None else [out_grad]
        run_backward([self], heads, None, retain_graph, False, train_mode)

    def _store(self, value: Array) -> None:
        """Overwrite the values with those of an array of the same shape (on the same device)."""
        self._data[...] = value
        note_write(self._data)

    def detach(self) -> NDArray:
        """The same values (shared memory) outside the recorded graph."""
        return self._alias(None)

    def _alias(self, entry: Entry | None) -> NDArray:
        other = type(self).__new__(type(self))
        NDArray.__init__(other, self._data, self._ctx)
        other._entry = entry
        return other

    # -- pickling ----------------------------------------------------------------------------------------------------
    # The state is MXNet's: one record of a `.params` file, so that pickled optimizer states are read both ways.
    def __getstate__(self) -> dict[str, Any]:
        from autohybrid.tensor.saving import to_record

        return {"handle": None if self._data is None else to_record(self)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        from autohybrid.tensor.saving import from_record

        if saved["handle"] is not None:
            source = from_record(saved["handle"])
            NDArray.__init__(self, source._data, source._ctx)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None,), self.__getstate__()

    def __copy__(self) -> NDArray:
        duplicate: NDArray = self.copy()
        return duplicate

    def __deepcopy__(self, memo: dict[int, Any]) -> NDArray:
        return self.__copy__()


@cache
def _numpy_class() -> type[NDArray]:
    """The class of `mx.np` arrays, with everything that they can do."""
    from autohybrid.tensor.numpy_array import ndarray

    return ndarray


def wrap(data: Array, ctx: Context = _CPU) -> NDArray:
    """An NDArray over `data` (not copied). A NumPy scalar, as some reductions give, becomes a 0-d array."""
    array = NDArray.__new__(NDArray)
    array._data = data if type(data) is np.ndarray or not isinstance(data, np.generic) else np.asarray(data)
    array._ctx = ctx
    array._entry = None
    array._grad = None
    return array


def mark_variable(array: NDArray, grad: NDArray | None, grad_req: str) -> None:
    """Make `array` a leaf of the tape whose gradient goes to `grad`."""
    array._grad = grad if grad_req != "null" else None
    array._entry = (Variable(grad, grad_req), 0) if grad_req != "null" else None


def refuse_inplace(array: NDArray) -> None:
    """Raise MXNetError when `array` is part of the graph being recorded: writing would falsify gradients."""
    if state.recording and array._entry is not None:
        raise MXNetError(
            f"{INPLACE_REFUSED}, on an array that is part of the recorded graph; "
            "write `x = x + y`, or do it outside `autograd.record()`"
        )


def array_on(value: Any, ctx: Context | None, dtype: Any) -> NDArray:
    """A fresh NDArray from a NumPy array or nested lists, on `ctx` (default: the current device)."""
    ctx = ctx or current_context()
    return wrap(to_device(np.array(value, dtype=dtype), ctx), ctx)
