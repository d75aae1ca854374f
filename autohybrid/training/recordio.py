"""`mx.recordio`: the record files of MXNet (`.rec`, `.idx`), and images packed into records.

A record is a magic number, a word with a 3-bit flag and the length, the bytes, and padding to four bytes. Bytes that
contain the magic number at a multiple of four are cut there into several parts (flags 1, 2 and 3).
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Iterable
from typing import IO, Any, NamedTuple

import numpy as np

from autohybrid.errors import MXNetError

_MAGIC = 0xCED7230A
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_LENGTH_MASK = (1 << 29) - 1
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)


class MXRecordIO:
    """A record file, read ('r') or written ('w') one record after the other.

    Raises MXNetError when the file is damaged. Can be pickled when reading: the copy opens the file anew.
    """

    def __init__(self, uri: str, flag: str) -> None:
        self.uri = str(uri)
        self.flag = flag
        self.is_open = False
        self.open()

    def open(self) -> None:
        """Open the file (again), at its beginning."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"the flag of a record file is 'r' or 'w', not {self.flag!r}")
        self.writable = self.flag == "w"
        self._stream: IO[bytes] = open(self.uri, self.flag + "b")  # noqa: SIM115 - closed by close()
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self.is_open = True

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self.is_open:
            self._stream.close()
            self.is_open = False

    def reset(self) -> None:
        """Start again: at the first record, or with an empty file when writing."""
        self.close()
        self.open()

    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable:
            raise RuntimeError(f"the record file {self.uri} is being written and cannot be copied")
        return {k: v for k, v in self.__dict__.items() if k not in ("_stream", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        was_open, self.is_open = self.is_open, False
        if was_open:
            self.open()

    def _same_process(self) -> None:
        # After a fork, parent and child would move one file position together.
        if self.pid != os.getpid():
            if self.writable:
                raise RuntimeError(f"the record file {self.uri} cannot be written from two processes")
            self.reset()

    def write(self, buf: bytes) -> None:
        """Append one record."""
        if not self.writable:
            raise AssertionError(f"the record file {self.uri} was opened for reading")
        self._same_process()
        parts = _split_at_magic(buf)
        for number, part in enumerate(parts):
            flag = (
                _WHOLE if len(parts) == 1 else _FIRST if number == 0 else _LAST if number == len(parts) - 1 else _MIDDLE
            )
            if len(part) > _LENGTH_MASK:
                raise MXNetError(f"a record holds at most {_LENGTH_MASK} bytes, not {len(part)}")
            self._stream.write(_MAGIC_BYTES + struct.pack("<I", flag << 29 | len(part)) + part + bytes(-len(part) % 4))

    def read(self) -> bytes | None:
        """The next record; None at the end of the file."""
        if self.writable:
            raise AssertionError(f"the record file {self.uri} was opened for writing")
        self._same_process()
        return self._read_here()

    def read_at(self, position: int) -> bytes:
        """The record that begins at a position; safe to call from several threads. Raises MXNetError past the end."""
        self._same_process()
        with self._lock:
            self._stream.seek(position)
            record = self.read()
        if record is None:
            raise MXNetError(f"the record file {self.uri} ends before position {position}")
        return record

    def _read_here(self) -> bytes | None:
        parts: list[bytes] = []
        while True:
            head = self._stream.read(8)
            if not head and not parts:
                return None
            flag, body = self._read_part(head)
            if (flag in (_WHOLE, _FIRST)) != (not parts):
                raise MXNetError(f"the record file {self.uri} is damaged: a part of a record is missing")
            parts.append(body)
            if flag in (_WHOLE, _LAST):
                return _MAGIC_BYTES.join(parts)

    def _read_part(self, head: bytes) -> tuple[int, bytes]:
        if len(head) < 8:
            raise MXNetError(f"the record file {self.uri} ends within a record")
        if head[:4] != _MAGIC_BYTES:
            raise MXNetError(
                f"the record file {self.uri} is damaged near byte {self._stream.tell()}: no record begins here"
            )
        (word,) = struct.unpack("<I", head[4:])
        length = word & _LENGTH_MASK
        padded = self._stream.read(length + -length % 4)
        if len(padded) < length:
            raise MXNetError(f"the record file {self.uri} ends within a record")
        return word >> 29, padded[:length]


def _split_at_magic(buf: bytes) -> list[bytes]:
    parts, start = [], 0
    at = buf.find(_MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            parts.append(buf[start:at])
            start = at + 4
            at = buf.find(_MAGIC_BYTES, start)
        else:
            at = buf.find(_MAGIC_BYTES, at + 1)
    return [*parts, buf[start:]]


def record_positions(path: str) -> list[int]:
    """Where the records of a file begin; only their heads are read. Raises MXNetError when the file is damaged."""
    found = []
    with open(path, "rb") as stream:
        while head := stream.read(8):
            magic, word = struct.unpack("<II", head) if len(head) == 8 else (0, 0)
            if magic != _MAGIC:
                raise MXNetError(f"{path} is damaged at position {stream.tell() - len(head)}: no record begins there")
            if word >> 29 in (_WHOLE, _FIRST):
                found.append(stream.tell() - 8)
            length = word & _LENGTH_MASK
            stream.seek(length + -length % 4, 1)
    return found


class MXIndexedRecordIO(MXRecordIO):
    """A record file with an index (text: key, tab, position in each line), for reading in any order."""

    def __init__(self, idx_path: str, uri: str, flag: str, key_type: type = int) -> None:
        self.idx_path = str(idx_path)
        self.key_type = key_type
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        super().__init__(uri, flag)

    def open(self) -> None:
        super().open()
        self.idx, self.keys = {}, []
        if self.writable:
            return
        with open(self.idx_path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                fields = line.strip().split("\t")
                try:
                    key, position = self.key_type(fields[0]), int(fields[1])
                except (IndexError, ValueError):
                    raise MXNetError(f"{self.idx_path}, line {number}: expected a key, a tab and a position") from None
                self.idx[key] = position
                self.keys.append(key)

    def close(self) -> None:
        if self.is_open and self.writable:
            with open(self.idx_path, "w", encoding="utf-8") as index:
                index.writelines(f"{key}\t{position}\n" for key, position in self.idx.items())
        super().close()

    def seek(self, idx: Any) -> None:
        """Go to the record with this key. Raises KeyError when there is none."""
        if self.writable:
            raise AssertionError(f"the record file {self.uri} was opened for writing")
        self._same_process()
        self._stream.seek(self.idx[idx])

    def tell(self) -> int:
        """The position of the next record to be written."""
        if not self.writable:
            raise AssertionError(f"the record file {self.uri} was opened for reading")
        return self._stream.tell()

    def read_idx(self, idx: Any) -> bytes:
        """The record with this key; safe to call from several threads."""
        self._same_process()
        with self._lock:
            self.seek(idx)
            record = self.read()
        if record is None:
            raise MXNetError(f"the record file {self.uri} ends before the record {idx!r}")
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Append a record under this key."""
        key = self.key_type(idx)
        position = self.tell()
        self.write(buf)
        self.idx[key] = position
        self.keys.append(key)


class IRHeader(NamedTuple):
    """What stands before an image in a record. `flag` > 0: the label is a vector of that many numbers."""

    flag: int
    label: Any
    id: int
    id2: int


_HEADER = struct.Struct("<IfQQ")


def pack(header: Iterable[Any], s: bytes) -> bytes:
    """A record of a header (flag, label, id, id2) and bytes; the label may be a number or a vector."""
    _, label, number, number2 = header
    if isinstance(label, (int, float, np.number)):
        return _HEADER.pack(0, float(label), number, number2) + s
    vector = np.asarray(label, dtype=np.float32)
    return _HEADER.pack(vector.size, 0.0, number, number2) + vector.tobytes() + s


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """The header and the bytes of a record. Raises MXNetError when the record is too short for its header."""
    if len(s) < _HEADER.size:
        raise MXNetError(f"a record of {len(s)} bytes is too short for an image header")
    header = IRHeader(*_HEADER.unpack_from(s))
    body = s[_HEADER.size :]
    if header.flag > 0:
        if len(body) < 4 * header.flag:
            raise MXNetError(f"the record is too short for a label of {header.flag} numbers")
        header = header._replace(label=np.frombuffer(body, np.float32, header.flag))
        body = body[4 * header.flag :]
    return header, body


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, Any]:
    """The header of a record and its image, decoded to a NumPy array (height, width, channels in BGR order)."""
    from autohybrid.training.image_codec import decode_bgr

    header, body = unpack(s)
    return header, decode_bgr(body, iscolor)


def pack_img(header: Iterable[Any], img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record of a header and an image (NumPy array, channels in BGR order), encoded as JPEG or PNG."""
    from autohybrid.training.image_codec import encode_bgr

    return pack(header, encode_bgr(img, quality, img_fmt))
