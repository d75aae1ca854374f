"""Sharing memory with other array libraries: NumPy arrays and DLPack capsules."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid.context import Context, cpu
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.backend import namespace_of
from autohybrid.tensor.indexing import contiguous
from autohybrid.tensor.versions import note_sharing

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]

_CUDA = 2


def from_numpy(ndarray: np.ndarray[Any, Any], zero_copy: bool = True, array_cls: type[NDArray] = NDArray) -> NDArray:
    """An array over the memory of `ndarray`, which becomes read-only; a copy with `zero_copy=False`.

    Keeps the dtype (`nd.array` makes float32). Raises ValueError when memory cannot be shared because `ndarray` is not
    in C order, TypeError for something else than a NumPy array.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy takes a NumPy array, not {type(ndarray).__name__}; `nd.array` takes lists")
    if not zero_copy:
        return array_cls(ndarray.copy(order="C"))
    if not ndarray.flags.c_contiguous:
        raise ValueError("only arrays in C order can be shared; pass `zero_copy=False` or `numpy.ascontiguousarray(x)`")
    return array_cls(_frozen(ndarray))


def _frozen(ndarray: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view of `ndarray` that can be written, where its memory can, while `ndarray` itself no longer can."""
    if not ndarray.flags.writeable and ndarray.flags.owndata:
        ndarray.flags.writeable = True  # it was shared before
    shared = ndarray.view()
    note_sharing(shared)
    ndarray.flags.writeable = False
    return shared


class _Capsule:
    """A bare DLPack capsule as the object that `from_dlpack` of the array libraries expects."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule = capsule
        self._device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


class _Writable:
    """The memory of a NumPy array that is marked read-only only because DLPack did not say otherwise."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def from_dlpack(dlpack: Any) -> NDArray:
    """An array over the memory of a DLPack capsule, or of an object that offers one; nothing is copied."""
    exporter = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack, (1, 0))
    kind, number = exporter.__dlpack_device__()
    if kind == _CUDA:
        ctx = Context("gpu", int(number))
        return wrap(namespace_of(ctx).from_dlpack(exporter), ctx)
    array = np.from_dlpack(exporter)
    return wrap(array if array.flags.writeable else np.asarray(_Writable(array)), cpu())


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule over the array's memory, for reading."""
    data.wait_to_read()
    memory = contiguous(data)
    note_sharing(memory)  # nothing stops the reader from writing
    return memory.__dlpack__()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule over the array's memory; what is written there shows in the array."""
    return to_dlpack_for_read(data)


def install(cls: type[NDArray]) -> None:
    """Attach the methods to `cls`."""
    cls.to_dlpack_for_read = to_dlpack_for_read  # type: ignore[attr-defined]
    cls.to_dlpack_for_write = to_dlpack_for_write  # type: ignore[attr-defined]
