"""Who is told of operator calls: nobody, except while two runs are compared call by call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autohybrid.tensor.opdef import OpDef

Observer = Callable[[OpDef, Sequence[Any]], None]


class _Observing(threading.local):
    observer: Observer | None = None


observing = _Observing()


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell `observer` the operator and the outputs (NDArrays) of every call this thread makes."""
    before, observing.observer = observing.observer, observer
    try:
        yield
    finally:
        observing.observer = before
