"""The IDX file format of MNIST: arrays of bytes with a short head."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError

Host = np.ndarray[Any, Any]


def read_idx(path: Path, dimensions: int) -> Host:
    """An IDX file of unsigned bytes (gzipped or not). Raises MXNetError when it is something else or cut short."""
    raw = path.read_bytes()
    try:
        data = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError) as error:
        raise MXNetError(f"{path} is damaged: {error}") from error
    head = 4 + 4 * dimensions
    if len(data) < head or data[:4] != bytes([0, 0, 8, dimensions]):
        raise MXNetError(f"{path} is not an IDX file of bytes with {dimensions} dimensions")
    shape = struct.unpack(f">{dimensions}I", data[4:head])
    if len(data) - head != np.prod(shape, dtype=object):
        raise MXNetError(f"{path} should hold {shape} bytes, but holds {len(data) - head}")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)
