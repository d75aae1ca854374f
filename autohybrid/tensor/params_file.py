"""The `.params` file format: bytes to host arrays and back. Knows NumPy only, no device and no NDArray.

The layout is MXNet 1.9.1's (`nd.save`): what it writes is read here and the other way round, byte for byte. Dense,
row_sparse and csr arrays; the versions V1, V2 and V3 (numpy semantics) and the older one without a version.

A reader trusts nothing: every count and extent is compared with the bytes that are left before memory is taken, so a
damaged or hostile file costs at most memory of its own size and ends in an MXNetError that names file and place.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, NoReturn

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import DTYPE_FLAGS

Host = np.ndarray[Any, Any]
#: What shapes mean to the reader: classic, numpy's, or (numpy mode for the whole process) either.
Semantics = Literal["classic", "numpy", "both"]

_LIST_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_STORAGE = {0: "default", 1: "row_sparse", 2: "csr"}
_STORAGE_FLAG = {name: flag for flag, name in _STORAGE.items()}
_AUX_COUNT = {"default": 0, "row_sparse": 1, "csr": 2}
_DEVICES = (1, 2, 3, 5)
_MAX_NDIM = 32
#: NumPy has no bfloat16; like MXNet's Python side, its bits are kept in a field of that name.
_BFLOAT16 = np.dtype([("bfloat16", "<u2")])
_DTYPES: tuple[np.dtype[Any], ...] = tuple(_BFLOAT16 if n == "bfloat16" else np.dtype(n) for n in DTYPE_FLAGS)
_FLAG_OF = {dtype: flag for flag, dtype in enumerate(_DTYPES)}


@dataclass(frozen=True, slots=True)
class StoredArray:
    """One array of a file.

    `values` is the whole array when dense, else the stored block: `(nnz,)` for csr, `(rows, ...)` for row_sparse.
    `aux` holds the row indices (row_sparse), or indptr and column indices (csr). `device` is MXNet's type and number.
    """

    shape: tuple[int, ...]
    values: Host
    stype: str = "default"
    aux: tuple[Host, ...] = ()
    device: tuple[int, int] = (1, 0)


# -- writing -----------------------------------------------------------------------------------------------------------
def encode_file(
    arrays: Sequence[StoredArray], names: Sequence[str], numpy_shapes: bool = False
) -> Iterator[bytes | memoryview]:
    """The chunks of a file: a list of arrays (no names), or a mapping. `numpy_shapes` writes V3 records."""
    yield struct.pack("<QQQ", _LIST_MAGIC, 0, len(arrays))
    for array in arrays:
        yield from encode_array(array, numpy_shapes)
    yield struct.pack("<Q", len(names))
    for name in names:
        text = name.encode()
        yield struct.pack("<Q", len(text)) + text


def encode_array(array: StoredArray, numpy_shapes: bool = False) -> Iterator[bytes | memoryview]:
    """The chunks of one array record. Raises MXNetError for a dtype or rank that the format does not have."""
    if not numpy_shapes and not array.shape:
        raise MXNetError("an array without axes can only be saved under numpy semantics (`mx.npx.set_np()`)")
    header = struct.pack("<Ii", _V3 if numpy_shapes else _V2, _STORAGE_FLAG[array.stype])
    if array.stype != "default":
        header += _shape_bytes(array.values.shape)
    header += _shape_bytes(array.shape) + struct.pack("<iii", *array.device, _flag(array.values.dtype))
    for aux in array.aux:
        header += struct.pack("<i", _flag(aux.dtype)) + _shape_bytes(aux.shape)
    yield header
    for block in (array.values, *array.aux):
        yield _contents(block)


def _shape_bytes(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _flag(dtype: np.dtype[Any]) -> int:
    flag = _FLAG_OF.get(dtype.newbyteorder("="))
    if flag is None:
        raise MXNetError(f"arrays of dtype {dtype} cannot be saved; known are {', '.join(DTYPE_FLAGS)}")
    return flag


def _contents(block: Host) -> bytes | memoryview:
    flat = np.ascontiguousarray(block, dtype=block.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(np.uint8).data if flat.size else b""


# -- reading -----------------------------------------------------------------------------------------------------------
def decode_file(
    stream: BinaryIO, size: int, source: str, semantics: Semantics = "classic"
) -> tuple[list[StoredArray], list[str]]:
    """The arrays and names of a file of `size` bytes. `source` names it in messages.

    Raises MXNetError when it is not a `.params` file, is cut or damaged, or was written under other semantics than the
    reader's.
    """
    reader = _Reader(stream, size, source)
    magic = reader.number("<Q", "the list magic")
    if magic != _LIST_MAGIC:
        reader.fail(f"not a .params file: it starts with {magic:#x} instead of {_LIST_MAGIC:#x}")
    reader.number("<Q", "the reserved word")
    count = reader.count("the number of arrays", 4)
    arrays = []
    for index in range(count):
        reader.subject = f"array {index} of {count}"
        arrays.append(_array(reader, semantics))
    reader.subject = ""
    names = _names(reader)
    if names and len(names) != count:
        reader.fail(f"there are {len(names)} names for {count} arrays")
    return arrays, names


def decode_array(stream: BinaryIO, size: int, source: str) -> StoredArray:
    """One array record, as pickled arrays hold it. Raises MXNetError, see `decode_file`."""
    return _array(_Reader(stream, size, source), "both")


class _Reader:
    """A stream of known length that refuses to read, or to allocate, past its end."""

    def __init__(self, stream: BinaryIO, size: int, source: str) -> None:
        self._stream = stream
        self._source = source
        self._size = size
        self._position = 0
        self.subject = ""

    @property
    def left(self) -> int:
        return self._size - self._position

    def fail(self, what: str) -> NoReturn:
        subject = f"{self.subject}, " if self.subject else ""
        raise MXNetError(f"invalid NDArray file format: {self._source}, {subject}byte {self._position}: {what}")

    def take(self, size: int, what: str) -> bytes:
        self.need(size, what)
        found = self._stream.read(size)
        if len(found) != size:
            self.fail(f"the file ended while {what} was read")
        self._position += size
        return found

    def need(self, size: int, what: str) -> None:
        if size > self.left:
            self.fail(f"{what} needs {size} bytes, {self.left} are left; the file is cut or damaged")

    def number(self, form: str, what: str) -> int:
        return int(struct.unpack(form, self.take(struct.calcsize(form), what))[0])

    def count(self, what: str, smallest: int) -> int:
        """A number of entries that take at least `smallest` bytes each."""
        found = self.number("<Q", what)
        self.need(found * smallest, f"{what}, {found},")
        return found

    def block(self, dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> Host:
        size = math.prod(shape) * dtype.itemsize
        self.need(size, f"{what} of shape {shape} and dtype {dtype.names[0] if dtype.names else dtype}")
        if size == 0 and math.prod(n for n in shape if n) * dtype.itemsize >= 2**63:
            self.fail(f"{what}: the shape {shape} is too large")
        flat = np.empty(math.prod(shape), dtype.newbyteorder("<"))
        if size:
            target = flat.view(np.uint8).data
            filled = 0
            while filled < size:
                got = self._stream.readinto(target[filled:])  # type: ignore[attr-defined]
                if not got:
                    self.fail(f"the file ended while {what} was read")
                filled += got
            self._position += size
        return flat.astype(dtype, copy=False).reshape(shape)


def _array(reader: _Reader, semantics: Semantics) -> StoredArray:
    version = reader.number("<I", "the version")
    if version != _V3 and semantics == "numpy":
        reader.fail("the array was saved under classic semantics; load it outside `mx.np_shape()`")
    if version not in (_V2, _V3):
        shape = _shape(reader, "<q") if version == _V1 else _extents(reader, version, "<I")
        return _dense(reader, shape)
    if version == _V3 and semantics == "classic":
        reader.fail("the array was saved under numpy semantics; load it after `mx.npx.set_np()`, with `mx.npx.load`")
    flag = reader.number("<i", "the storage type")
    stype = _STORAGE.get(flag)
    if stype is None:
        reader.fail(f"unknown storage type {flag}")
    if stype == "default":
        return _dense(reader, _shape(reader, "<q"), version == _V3)
    return _sparse(reader, stype)


def _dense(reader: _Reader, shape: tuple[int, ...], scalar: bool = False) -> StoredArray:
    if not shape and not scalar:
        reader.fail("the array has no axes and no values: it was saved before it was given any")
    device = _device(reader)
    dtype = _dtype(reader)
    return StoredArray(shape, reader.block(dtype, shape, "the values"), device=device)


def _sparse(reader: _Reader, stype: str) -> StoredArray:
    stored, shape = _shape(reader, "<q"), _shape(reader, "<q")
    device, dtype = _device(reader), _dtype(reader)
    kinds = [(_dtype(reader), _shape(reader, "<q")) for _ in range(_AUX_COUNT[stype])]
    values = reader.block(dtype, stored, "the stored values")
    aux = tuple(reader.block(kind, extents, "the indices") for kind, extents in kinds)
    array = StoredArray(shape, values, stype, aux, device)
    problem = _sparse_problem(array)
    if problem:
        reader.fail(problem)
    return array


def _sparse_problem(array: StoredArray) -> str | None:
    """What is wrong with the indices of a sparse array, which would otherwise be read out of bounds later."""
    if any(a.ndim != 1 or a.dtype.kind not in "iu" for a in array.aux):
        return "the indices of a sparse array must be lists of integers"
    aux = [a.astype(np.int64) for a in array.aux]
    if array.stype == "row_sparse":
        return _row_problem(array.shape, array.values.shape, aux[0])
    return _csr_problem(array.shape, array.values.shape, *aux)


def _row_problem(shape: tuple[int, ...], stored: tuple[int, ...], rows: Host) -> str | None:
    if not shape or stored != (len(rows), *shape[1:]):
        return f"{len(rows)} row indices and values of shape {stored} do not make a row_sparse array of {shape}"
    if len(rows) and (rows[0] < 0 or rows[-1] >= shape[0] or np.any(np.diff(rows) <= 0)):
        return f"the row indices are not an increasing list within 0 to {shape[0] - 1}"
    return None


def _csr_problem(shape: tuple[int, ...], stored: tuple[int, ...], indptr: Host, columns: Host) -> str | None:
    count = len(columns)
    if len(shape) != 2 or stored != (count,) or (len(indptr) != shape[0] + 1 and count):
        return f"{len(indptr)} row starts and {count} columns with values {stored} do not make a csr array of {shape}"
    if count and (indptr[0] != 0 or indptr[-1] != count or np.any(np.diff(indptr) < 0)):
        return f"the row starts do not rise from 0 to {count}"
    if count and (columns.min() < 0 or columns.max() >= shape[1]):
        return f"a column index lies outside 0 to {shape[1] - 1}"
    return None


def _shape(reader: _Reader, form: str) -> tuple[int, ...]:
    return _extents(reader, reader.number("<i", "the number of axes"), form)


def _extents(reader: _Reader, ndim: int, form: str) -> tuple[int, ...]:
    if not 0 <= ndim <= _MAX_NDIM:
        reader.fail(f"{ndim} is not a number of axes (0 to {_MAX_NDIM})")
    shape = tuple(reader.number(form, "an extent") for _ in range(ndim))
    if any(extent < 0 for extent in shape):
        reader.fail(f"{shape} is not a shape")
    return shape


def _device(reader: _Reader) -> tuple[int, int]:
    kind, number = reader.number("<i", "the device type"), reader.number("<i", "the device number")
    if kind not in _DEVICES:
        reader.fail(f"unknown device type {kind}")
    return kind, number


def _dtype(reader: _Reader) -> np.dtype[Any]:
    flag = reader.number("<i", "the type flag")
    if not 0 <= flag < len(_DTYPES):
        reader.fail(f"unknown type flag {flag}")
    return _DTYPES[flag]


def _names(reader: _Reader) -> list[str]:
    names = []
    for index in range(reader.count("the number of names", 8)):
        reader.subject = f"name {index}"
        text = reader.take(reader.number("<Q", "the length of a name"), "a name")
        try:
            names.append(text.decode())
        except UnicodeDecodeError:
            reader.fail(f"{text[:40]!r} is not UTF-8 text")
    reader.subject = ""
    return names
