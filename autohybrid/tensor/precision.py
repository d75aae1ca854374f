"""How kernels compute in half precision: in float32, rounded once at the end, as MXNet's own kernels do."""

from __future__ import annotations

from typing import Any


def widen(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """The arrays, float16 ones as float32 (copies); all others untouched."""
    return tuple([a.astype(xp.float32) if a.dtype.char == "e" else a for a in arrays])


def narrow(array: Any, like: Any) -> Any:
    """`array` with the dtype of `like`; not copied when it has it already."""
    return array if array.dtype == like.dtype else array.astype(like.dtype)


def matmul(xp: Any, a: Any, b: Any) -> Any:
    """`a @ b`; float16 is accumulated in float32 and rounded at the end."""
    if a.dtype.char != "e":
        return xp.matmul(a, b)
    return xp.matmul(a.astype(xp.float32), b.astype(xp.float32)).astype(a.dtype)
