"""Writing files so that a crash at any moment leaves the old contents or the new ones, never a mix."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

Chunk = bytes | bytearray | memoryview


def write_atomically(path: str | os.PathLike[str], content: bytes | Iterable[Chunk], durable: bool = True) -> None:
    """Write `content` (bytes, or chunks of them) to `path`: a temporary file beside it, flushed, then renamed over it.

    `durable=False` does not wait for the disk: for caches, where a file that a power cut left empty is made again.

    A symbolic link is followed; permissions of an existing file are kept. What cannot be replaced (a pipe, a device)
    is written directly. Raises OSError as `open` does; the old file is then untouched and the temporary one removed.
    """
    target = Path(os.path.realpath(path))
    chunks = [content] if isinstance(content, bytes) else content
    mode = _existing_mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as stream:
            _write_all(stream, chunks)
        return
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(6)}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            _write_all(stream, chunks)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(draft, stat.S_IMODE(mode))
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(target.parent)


def _existing_mode(target: Path) -> int | None:
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _write_all(stream: BinaryIO, chunks: Iterable[Chunk]) -> None:
    for chunk in chunks:
        stream.write(chunk)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable, where folders can be opened (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
