"""How many threads compute: the library's own, and those of OpenBLAS under NumPy.

`AUTOHYBRID_THREADS` says how many threads a compiled call may use, else `OMP_NUM_THREADS`, else there are as many as
processors that the process may run on. Products of matrices use the threads of NumPy's BLAS, whatever it was told
(`OPENBLAS_NUM_THREADS`); while several of our own threads multiply, each multiplies alone.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_SETTINGS = ("AUTOHYBRID_THREADS", "OMP_NUM_THREADS")


def thread_count() -> int:
    """Threads that one compiled call may use; at least 1. Raises ValueError for a setting that is no number."""
    for name in _SETTINGS:
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
        if text and name.startswith("AUTOHYBRID"):
            raise ValueError(f"{name} is a number of threads, 1 or more, not {text!r}")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def pool(workers: int) -> ThreadPoolExecutor:
    """Threads beside the calling one; they live as long as the process."""
    return ThreadPoolExecutor(workers, thread_name_prefix="autohybrid")


if hasattr(os, "register_at_fork"):  # the threads stay behind in the parent; a worker process gets its own
    os.register_at_fork(after_in_child=pool.cache_clear)


class _BlasThreads:
    """The number of threads of the OpenBLAS that NumPy brought; the first of nested limits keeps and restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._earlier = 1
        self._library: Any = None
        self._names = ("", "")
        self._searched = False

    def _find(self) -> bool:
        """Whether NumPy's OpenBLAS is loaded and can be told."""
        if not self._searched:
            self._searched = True
            for path in _loaded_libraries("openblas"):
                library = ctypes.CDLL(path)
                for affixes in (("scipy_openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", "")):
                    names = tuple([f"{affixes[0]}{verb}_num_threads{affixes[1]}" for verb in ("get", "set")])
                    if hasattr(library, names[1]):
                        self._library, self._names = library, (names[0], names[1])
        return self._library is not None

    @property
    def can_be_limited(self) -> bool:
        """Whether `alone` has an effect."""
        with self._lock:
            return self._find()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """In the body, each product of matrices is computed by the thread that asks for it."""
        with self._lock:
            if self._depth == 0 and self._find():
                self._earlier = getattr(self._library, self._names[0])()
                getattr(self._library, self._names[1])(1)
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if self._depth == 0 and self._library is not None:
                    getattr(self._library, self._names[1])(self._earlier)


def _loaded_libraries(part: str) -> list[str]:
    """Paths of the shared libraries in this process whose names contain `part`, where the system tells."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    files = {line.split(maxsplit=5)[-1] for line in maps.read_text().splitlines() if part in line}
    return sorted(file for file in files if part in Path(file).name)


blas_threads = _BlasThreads()


def own_threads() -> int:
    """Threads that may share the work of one step: 1 where each of them would start threads of BLAS."""
    return thread_count() if blas_threads.can_be_limited else 1
