"""`nd.save`, `nd.load` and `nd.load_frombuffer`: `.params` files of arrays, and arrays as records (for pickling)."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from autohybrid import numpy_semantics
from autohybrid.context import Context, cpu
from autohybrid.errors import MXNetError
from autohybrid.files import write_atomically
from autohybrid.tensor.array import NDArray, wrap
from autohybrid.tensor.backend import num_gpus, to_device, to_host
from autohybrid.tensor.params_file import Semantics, StoredArray, decode_array, decode_file, encode_array, encode_file

__all__ = ["load", "load_frombuffer", "save"]

_ACCEPTED = "save accepts a dict of str -> NDArray, a list of NDArrays, or one NDArray"


def save(fname: str | os.PathLike[str], data: Any) -> None:
    """Save an NDArray, a list of NDArrays or a dict of name -> NDArray to a `.params` file, as MXNet 1.9.1 does.

    A process killed on the way leaves the old file or the new one. Raises TypeError or ValueError for other data,
    MXNetError when the file cannot be written.

    >>> mx.nd.save("weights.params", {"w": mx.nd.ones((2, 3))})
    """
    names, arrays = _named(data)
    path = os.fspath(fname)
    stored = [to_stored(array) for array in arrays]
    try:
        write_atomically(path, encode_file(stored, names, numpy_semantics.is_np_shape()))
    except OSError as error:
        raise MXNetError(f"cannot write {path!r}: {error.strerror or error}") from error


def load(fname: str | os.PathLike[str]) -> Any:
    """The arrays of a `.params` file: a dict when they were saved with names, else a list.

    Raises MXNetError naming the file and the place when it is missing, cut, damaged or something else.
    """
    return read_file(fname, numpy_semantics.shape_semantics())


def read_file(fname: str | os.PathLike[str], semantics: Semantics) -> Any:
    """`load` for a reader of these semantics."""
    if not isinstance(fname, (str, os.PathLike)):
        raise TypeError(f"fname required to be a string, got {type(fname).__name__}")
    path = os.fspath(fname)
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            stored, names = decode_file(stream, size, repr(path), semantics)
    except OSError as error:
        raise MXNetError(f"cannot read {path!r}: {error.strerror or error}") from error
    return _assembled(stored, names)


def load_frombuffer(buf: bytes) -> Any:
    """What `load` gives for a file with these contents."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"buf required to be a string or bytes, got {type(buf).__name__}")
    stream = io.BytesIO(buf)
    size = stream.getbuffer().nbytes
    return _assembled(*decode_file(stream, size, "the buffer", numpy_semantics.shape_semantics()))


def to_record(array: NDArray) -> bytearray:
    """The array as one record of a `.params` file, which is how MXNet pickles it."""
    return bytearray(b"".join(encode_array(to_stored(array), not array.shape)))


def from_record(record: bytes | bytearray) -> NDArray:
    """The array of a record. Raises MXNetError when it is damaged."""
    return from_stored(decode_array(io.BytesIO(record), len(record), "a pickled array"))


def to_stored(array: NDArray) -> StoredArray:
    """The host form of an array, on any device and in any storage type."""
    device = (array._ctx.device_typeid, array._ctx.device_id)
    if array.stype == "default":
        return StoredArray(array.shape, to_host(array._data), device=device)
    values, aux = array.stored_parts()  # the sparse classes of tensor/sparse.py
    return StoredArray(array.shape, to_host(values), array.stype, tuple(to_host(a) for a in aux), device)


def from_stored(stored: StoredArray) -> NDArray:
    """The array that `stored` describes, on its device; arrays of a GPU that is not there go to the CPU."""
    ctx = _context(stored.device)
    if stored.stype == "default":
        return wrap(to_device(stored.values, ctx), ctx)
    from autohybrid.tensor.sparse import from_parts

    aux = [to_device(a, ctx) for a in stored.aux]
    return from_parts(stored.stype, stored.shape, to_device(stored.values, ctx), aux, ctx)


def _context(device: tuple[int, int]) -> Context:
    kind, number = device
    name = Context.devtype2str[kind]
    if name == "gpu" and number >= num_gpus():
        return cpu()
    return Context(name, number)


def _named(data: Any) -> tuple[list[str], Sequence[NDArray]]:
    if isinstance(data, NDArray):
        return [], [data]
    if isinstance(data, dict):
        if not all(isinstance(k, str) and isinstance(v, NDArray) for k, v in data.items()):
            raise TypeError(_ACCEPTED)
        return list(data), list(data.values())
    if isinstance(data, list):
        if not all(isinstance(v, NDArray) for v in data):
            raise TypeError(_ACCEPTED)
        return [], data
    raise ValueError(f"{_ACCEPTED}, not {type(data).__name__}")


def _assembled(stored: Sequence[StoredArray], names: Sequence[str]) -> Any:
    arrays = [from_stored(s) for s in stored]
    return dict(zip(names, arrays)) if names else arrays
