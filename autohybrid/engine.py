"""`mx.engine`: MXNet groups operators of its engine into bulks; here nothing is queued, so the size is only kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["bulk", "set_bulk_size"]

_size: ContextVar[int] = ContextVar("bulk_size", default=0)


def set_bulk_size(size: int) -> int:
    """Set the number of operators in a bulk, which has no effect on results; returns the earlier one."""
    earlier = _size.get()
    _size.set(size)
    return earlier


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """`set_bulk_size(size)` for the body."""
    earlier = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(earlier)
