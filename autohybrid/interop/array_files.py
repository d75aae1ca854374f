"""Files of named arrays, `.params`, `.npz` and `.safetensors`, read into and written from one form.

The suffix of a file decides its format. Graphs travel in the metadata of a safetensors file, under `symbol`.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.files import write_atomically
from autohybrid.interop import safetensors
from autohybrid.tensor.params_file import StoredArray, decode_file, encode_file

Host = np.ndarray[Any, Any]
SUFFIXES = (".params", ".npz", ".safetensors")


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """The contents of a file: arrays by name (in the file's order) and texts that the format carried along."""

    arrays: dict[str, StoredArray]
    metadata: dict[str, str] = field(default_factory=dict)


def suffix_of(path: str) -> str:
    """The suffix that names the format. Raises MXNetError when it names none."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise MXNetError(f"`{path}` is of no known format; known are -symbol.json, .onnx, {', '.join(SUFFIXES)}")
    return suffix


def read_arrays(path: str) -> ArrayFile:
    """The arrays of a file; those of a `.params` file without names are called `0`, `1`, ...

    Raises MXNetError when the file is missing, cut, damaged or something else than its suffix says.
    """
    read = {".params": _read_params, ".npz": _read_npz, ".safetensors": _read_safetensors}[suffix_of(path)]
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            return read(stream, size, f"`{path}`")
    except OSError as error:
        raise MXNetError(f"cannot read `{path}`: {error.strerror or error}") from error


def write_arrays(path: str, content: ArrayFile) -> None:
    """Write the arrays in the format of the suffix, at once or not at all.

    Raises MXNetError for what the format cannot hold: sparse arrays outside `.params`, dtypes and ranks it lacks.
    """
    chunks: Iterator[bytes | memoryview]
    match suffix_of(path):
        case ".params":
            is_numpy = any(not array.shape for array in content.arrays.values())
            chunks = encode_file(list(content.arrays.values()), list(content.arrays), is_numpy)
        case ".npz":
            chunks = iter([_npz_bytes(_dense(content, path))])
        case _:
            chunks = safetensors.encode(_dense(content, path), content.metadata)
    try:
        write_atomically(path, chunks)
    except OSError as error:
        raise MXNetError(f"cannot write `{path}`: {error.strerror or error}") from error


def _dense(content: ArrayFile, path: str) -> dict[str, Host]:
    for name, array in content.arrays.items():
        if array.stype != "default":
            raise MXNetError(
                f"`{name}` is a {array.stype} array, which only a .params file can hold, not `{path}`; make it dense "
                "with `tostype('default')`"
            )
    return {name: array.values.reshape(array.shape) for name, array in content.arrays.items()}


def _read_params(stream: BinaryIO, size: int, source: str) -> ArrayFile:
    arrays, names = decode_file(stream, size, source, "both")
    labels = names or [str(number) for number in range(len(arrays))]
    if len(set(labels)) != len(labels):
        raise MXNetError(f"{source}: two arrays have the same name")
    return ArrayFile(dict(zip(labels, arrays)))


def _read_safetensors(stream: BinaryIO, size: int, source: str) -> ArrayFile:
    arrays, metadata = safetensors.decode(stream, size, source)
    return ArrayFile({name: StoredArray(array.shape, array) for name, array in arrays.items()}, metadata)


def _read_npz(stream: BinaryIO, size: int, source: str) -> ArrayFile:
    arrays = {}
    try:
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as opened:
                    values = _read_npy(opened, member.file_size, f"{source}, `{name}`")  # type: ignore[arg-type]
                arrays[name] = StoredArray(values.shape, values)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise MXNetError(f"{source} is not an .npz file, or is damaged: {error}") from error
    return ArrayFile(arrays)


def _read_npy(stream: BinaryIO, size: int, source: str) -> Host:
    """One array of a member of `size` bytes; nothing is allocated that its data does not fill, nothing unpickled."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read(stream)
    except ValueError as error:
        raise MXNetError(f"{source} is not an array: {error}") from error
    if dtype.hasobject:
        raise MXNetError(f"{source} holds Python objects, which are not read")
    count = 1
    for extent in shape:
        count *= extent
    if count < 0 or count * dtype.itemsize > size:
        raise MXNetError(f"{source} claims the shape {shape}, which its {size} bytes do not fill")
    data = stream.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise MXNetError(f"{source} is cut")
    return np.frombuffer(bytearray(data), dtype=dtype).reshape(shape, order="F" if is_fortran else "C")


def _npz_bytes(arrays: dict[str, Host]) -> bytes:
    buffer = io.BytesIO()
    # Not numpy.savez, which takes the names as keywords and so cannot hold an array named `file`.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return buffer.getvalue()
