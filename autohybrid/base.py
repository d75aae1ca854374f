"""`mx.base`: MXNet's exceptions and small helpers under the names that code written for it imports."""

from __future__ import annotations

import numbers
import os
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import (
    DeferredInitializationError,
    MXNetError,
    NotImplementedForSymbol,
    NotSupportedForSparseNDArray,
)

__all__ = ["DeferredInitializationError", "MXNetError", "NotImplementedForSymbol", "NotSupportedForSparseNDArray"]

#: NumPy's scalars are registered with these abstract types.
numeric_types = (float, int, numbers.Real)
integer_types = (int, numbers.Integral)
string_types = (str,)


def __getattr__(name: str) -> Any:
    if name == "mx_real_t":  # NumPy's float32, which only the run time loads
        import autohybrid

        return autohybrid.nd.zeros((1,)).dtype
    raise AttributeError(f"module 'autohybrid.base' has no attribute '{name}'")


def data_dir() -> str:
    """The folder for downloads: the environment variable MXNET_HOME, or `~/.mxnet`."""
    return os.environ.get("MXNET_HOME", os.path.join(os.path.expanduser("~"), ".mxnet"))


def py_str(text: bytes | str) -> str:
    """Text of UTF-8 bytes. Text stays as it is: names that MXNet hands out as bytes, to monitors say, are text here."""
    return text if isinstance(text, str) else text.decode("utf-8")


def c_str(text: str) -> bytes:
    """UTF-8 bytes of text."""
    return text.encode("utf-8")


def _as_list(value: Any) -> Sequence[Any]:
    """A list or tuple as it is, anything else as a list of one."""
    return value if isinstance(value, (list, tuple)) else [value]
