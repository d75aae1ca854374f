"""Arena: memory for the large intermediates of a generated function, planned by liveness and kept between calls.

Fresh memory costs more than what many calls compute in it: the system clears every page. So values that live inside a
call get places in buffers that the next call uses again; a place is given to the next value as soon as nothing reads
the one before. A call takes a set of buffers from a list and puts it back, so calls in several threads have one each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autohybrid.graph.lifetimes import Lifetimes
from autohybrid.graph.node import Head

#: Smaller values are left to NumPy, whose allocator reuses memory of this size well.
LEAST_BYTES = 1 << 15
#: Buffers begin at multiples of this many bytes, as wide registers like it.
_ALIGNMENT = 64


@dataclass(slots=True)
class _Buffer:
    """A range of memory: its size, and what lies in it."""

    size: int
    holders: list[Head] = field(default_factory=list)
    busy_at: int = -1


@dataclass(frozen=True, slots=True)
class _Place:
    buffer: int
    shape: tuple[int, ...]
    dtype: str


class Arena:
    """The plan of one function; `names` maps the arrays in the code to their places."""

    def __init__(self, lifetimes: Lifetimes, shared: bool) -> None:
        self._lifetimes = lifetimes
        self._shared = shared  # whether calls may keep what they are given: then nothing gets a place
        self._buffers: list[_Buffer] = []
        self.names: dict[str, _Place] = {}
        self.made: list[str] = []  # the arrays that the code takes from a set of buffers

    def place(self, name: str, shape: Sequence[int], dtype: str, position: int, holder: Head | None) -> None:
        """Give the array `name`, first written at `position`, a place until `holder` is dead, or for that call only."""
        needed = math.prod(shape) * np.dtype(dtype).itemsize
        free = [i for i, buffer in enumerate(self._buffers) if self._is_free(buffer, position)]
        fitting = [i for i in free if self._buffers[i].size >= needed]
        if fitting:
            index = min(fitting, key=lambda i: self._buffers[i].size)
        elif free:  # the largest free one grows
            index = max(free, key=lambda i: self._buffers[i].size)
            self._buffers[index].size = needed
        else:
            index = len(self._buffers)
            self._buffers.append(_Buffer(needed))
        buffer = self._buffers[index]
        buffer.holders = [] if holder is None else [holder]
        buffer.busy_at = position
        self.names[name] = _Place(index, tuple(shape), dtype)
        self.made.append(name)

    def may_hold(self, head: Head, shape: Sequence[int], dtype: str) -> bool:
        """Whether `head` is worth a place, and does not leave the call."""
        return (
            not self._shared
            and self._lifetimes.is_internal(head)
            and dtype in ("float32", "float64")
            and math.prod(shape) * np.dtype(dtype).itemsize >= LEAST_BYTES
        )

    def move_in(self, name: str, other: str, holder: Head) -> None:
        """`holder`, called `name`, is written over the array `other`, which may have a place here."""
        place = self.names.get(other)
        if place is not None:
            self._buffers[place.buffer].holders.append(holder)
            self.names.setdefault(name, place)

    def _is_free(self, buffer: _Buffer, position: int) -> bool:
        dead = all(
            self._lifetimes.last_use(member) < position and self._lifetimes.is_internal(member)
            for head in buffer.holders
            for member in self._lifetimes.group(head)
        )
        return dead and buffer.busy_at < position

    @property
    def size(self) -> int:
        """Bytes of one set of buffers."""
        return sum(buffer.size for buffer in self._buffers)

    def maker(self) -> Callable[[], tuple[Any, ...]]:
        """A function that makes a set of buffers: the arrays named in `made`, in that order."""
        sizes = [buffer.size for buffer in self._buffers]
        places = [self.names[name] for name in self.made]

        def make() -> tuple[Any, ...]:
            raw = [_aligned(size) for size in sizes]
            return tuple([_array(raw[p.buffer], p) for p in places])

        return make


def _aligned(size: int) -> Any:
    raw = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size]


def _array(raw: Any, place: _Place) -> Any:
    return np.ndarray(place.shape, dtype=place.dtype, buffer=raw)
