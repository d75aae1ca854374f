"""The safetensors format: eight bytes of length, a JSON header, the data. Arrays of the host only, by name.

A reader trusts nothing: lengths are compared with the size of the file before memory is taken, and the arrays must
cover the data without gap or overlap, as the format demands. The format: https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, TypeGuard

import numpy as np

from autohybrid.errors import MXNetError

Host = np.ndarray[Any, Any]

_LONGEST_HEADER = 100_000_000
_METADATA = "__metadata__"
#: The format's name of a dtype -> NumPy's. NumPy has no bfloat16: its bits are kept in a field of that name.
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype([("bfloat16", "<u2")]),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAME_OF = {dtype: name for name, dtype in _DTYPES.items()}


def encode(arrays: Mapping[str, Host], metadata: Mapping[str, str] | None = None) -> Iterator[bytes | memoryview]:
    """The chunks of a file. Raises MXNetError for a dtype or a name that the format does not have."""
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    # Widest first, so that every array lies at a multiple of its item size, as readers that map the file want it.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    end = 0
    for name in order:
        if name == _METADATA:
            raise MXNetError(f"an array cannot be named {_METADATA!r} in a safetensors file")
        array = arrays[name]
        start, end = end, end + array.nbytes
        header[name] = {"dtype": _dtype_name(name, array), "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for name in order:
        flat = np.ascontiguousarray(arrays[name], dtype=arrays[name].dtype.newbyteorder("<")).reshape(-1)
        yield flat.view(np.uint8).data if flat.size else b""


def _dtype_name(name: str, array: Host) -> str:
    found = _NAME_OF.get(array.dtype.newbyteorder("<"))
    if found is None:
        raise MXNetError(f"`{name}`: the safetensors format has no dtype {array.dtype}")
    return found


def decode(stream: BinaryIO, size: int, source: str) -> tuple[dict[str, Host], dict[str, str]]:
    """The arrays and the metadata of a file of `size` bytes; `source` names it in messages.

    Raises MXNetError when it is not a safetensors file, is cut, or describes arrays that its data cannot be.
    """
    prefix = stream.read(8)
    length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else size
    if length > min(size - 8, _LONGEST_HEADER):
        raise MXNetError(f"{source} is not a safetensors file: its header does not fit into its {size} bytes")
    header = _header(stream.read(length), source)
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise MXNetError(f"{source}: {_METADATA} is not a mapping of strings")
    room = size - 8 - length
    entries = sorted(
        ((_Entry(name, description, source)) for name, description in header.items()), key=lambda e: (e.start, e.end)
    )
    end = 0
    for entry in entries:
        if entry.start != end or entry.end > room:
            raise MXNetError(
                f"{source}: `{entry.name}` lies at bytes {entry.start} to {entry.end} of {room}, not at {end}"
            )
        end = entry.end
    if end != room:
        raise MXNetError(f"{source}: {room - end} bytes belong to no array")
    arrays = {entry.name: entry.read(stream) for entry in entries}
    return {name: arrays[name] for name in header}, metadata


def _header(text: bytes, source: str) -> dict[str, Any]:
    try:
        header = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise MXNetError(f"{source} is not a safetensors file: its header is no JSON object ({error})") from None
    if not isinstance(header, dict):
        raise MXNetError(f"{source} is not a safetensors file: its header is no JSON object")
    return header


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


class _Entry:
    """What the header says of one array, checked on its own."""

    __slots__ = ("dtype", "end", "name", "shape", "start")

    def __init__(self, name: str, description: Any, source: str) -> None:
        fields = description if isinstance(description, dict) else {}
        dtype, shape, offsets = fields.get("dtype"), fields.get("shape"), fields.get("data_offsets")
        if not isinstance(dtype, str) or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
            raise MXNetError(f"{source}: `{name}` lacks a valid dtype, shape or data_offsets")
        if dtype not in _DTYPES:
            raise MXNetError(f"{source}: `{name}` has the dtype {dtype!r}; known are {', '.join(_DTYPES)}")
        self.name, self.dtype, self.shape = name, _DTYPES[dtype], tuple(shape)
        self.start, self.end = offsets
        needed = math.prod(self.shape) * self.dtype.itemsize
        if self.end - self.start != needed or len(self.shape) > 32:
            raise MXNetError(
                f"{source}: `{name}` of shape {self.shape} takes {needed} bytes, not {self.end - self.start}"
            )

    def read(self, stream: BinaryIO) -> Host:
        """The array, of memory of its own."""
        data = bytearray(stream.read(self.end - self.start))
        return np.frombuffer(data, dtype=self.dtype).reshape(self.shape)


def _are_sizes(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
