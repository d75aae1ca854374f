"""Arena: memory for the large intermediates of a generated function, planned by liveness and kept between calls.

Fresh memory costs more than what many calls compute in it: the system clears every page. So values that live inside a
call get places in memory that the next call uses again. When all code is written, places are laid out, the largest
ones first, so that values that live at different times share memory. A call takes a set of buffers from a list and
puts it back, so calls in several threads have one each.

A value may lie inside a border of zeros that some reader wants around it (`borders`). Such a buffer is shared only by
values of its shape and border, so that nothing is ever written into the border. Views of places that many calls need
are made once for each set (`derive`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autohybrid.graph.lifetimes import Lifetimes
from autohybrid.graph.node import Head
from autohybrid.tensor.channels_last.layer import Border

#: Smaller values are left to NumPy, whose allocator reuses memory of this size well.
LEAST_BYTES = 1 << 15
#: Buffers begin at multiples of this many bytes, as wide registers like it.
_ALIGNMENT = 64
_PAGE, _SHIFT = 4096, 13 * _ALIGNMENT


@dataclass(slots=True)
class _Buffer:
    """A range of memory: its size, the shape and border it is kept for (None: any), and what lies in it.

    One that is kept for nothing holds one value (and what is written over it); such ranges are laid out in the end.
    """

    size: int
    kept_for: Any = None
    holders: list[Head] = field(default_factory=list)
    busy_at: int = -1


@dataclass(frozen=True, slots=True)
class _Place:
    buffer: int
    shape: tuple[int, ...]
    dtype: str
    border: Border | None = None

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """The shape with the border."""
        return self.shape if self.border is None else self.border.shape(self.shape)


@dataclass(frozen=True, slots=True)
class _Derived:
    """`build(*arrays)` of places, each with (a part of) its border; None for an array that there is not."""

    build: Callable[..., Any]
    sources: tuple[tuple[_Place | None, Border], ...]


class Arena:
    """The plan of one function; `names` maps the arrays in the code to their places.

    `borders` are the zeros that values of four axes want around them, where they get a place of the shape given there.
    """

    def __init__(
        self, lifetimes: Lifetimes, shared: bool, borders: Mapping[Head, tuple[Any, Border]] | None = None
    ) -> None:
        self._borders = {} if borders is None else borders
        self._derived: dict[str, _Derived] = {}
        self._lifetimes = lifetimes
        self._shared = shared  # whether calls may keep what they are given: then nothing gets a place
        self._buffers: list[_Buffer] = []
        self.names: dict[str, _Place] = {}
        self.made: list[str] = []  # the arrays that the code takes from a set of buffers

    def place(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str,
        position: int,
        holder: Head | None,
        border: Border | None = None,
    ) -> None:
        """Give the array `name`, first written at `position`, a place until `holder` is dead, or for that call only.

        `border` is the border of zeros around it; what `holder` wants counts where there is none given.
        """
        if border is None and holder is not None:
            wanted_shape, wanted = self._borders.get(holder, (None, None))
            border = wanted if wanted_shape == tuple(shape) else None
        place = _Place(-1, tuple(shape), dtype, border)
        needed = math.prod(place.whole_shape) * np.dtype(dtype).itemsize
        kept_for = None if border is None else (place.shape, dtype, border)
        index = self._find_kept(kept_for, position)
        if index is None:
            index = len(self._buffers)
            self._buffers.append(_Buffer(needed, kept_for))
        buffer = self._buffers[index]
        buffer.holders = [] if holder is None else [holder]
        buffer.busy_at = position
        self.names[name] = replace(place, buffer=index)
        self.made.append(name)

    def _find_kept(self, kept_for: Any, position: int) -> int | None:
        """A free buffer that is kept for this shape and border."""
        if kept_for is None:
            return None
        for index, buffer in enumerate(self._buffers):
            if buffer.kept_for == kept_for and self._end(buffer) < position:
                return index
        return None

    def has_place(self, name: str, shape: Sequence[int], border: Border | None = None) -> bool:
        """Whether the array `name` lies in a place of this shape, inside at least this border."""
        place = self.names.get(name)
        wanted = Border() if border is None else border
        return place is not None and place.shape == tuple(shape) and (place.border or Border()).covers(wanted)

    def derive(self, name: str, build: Callable[..., Any], sources: Sequence[tuple[str | None, Border]]) -> None:
        """`name` stands for `build(*arrays)`, made once for each set of buffers: of named arrays that have a place,
        each with that much of its border; None gives None."""
        found = tuple([(None if source is None else self.names[source], border) for source, border in sources])
        self._derived[name] = _Derived(build, found)
        self.made.append(name)

    @property
    def is_shared(self) -> bool:
        """Whether calls may keep what they are given, so that nothing has a place."""
        return self._shared

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

    def _end(self, buffer: _Buffer) -> float:
        """The position of the last call that reads what lies in a buffer; infinite for what leaves the call."""
        members = [member for head in buffer.holders for member in self._lifetimes.group(head)]
        if not all(map(self._lifetimes.is_internal, members)):
            return math.inf
        return max([buffer.busy_at, *map(self._lifetimes.last_use, members)])

    def _layout(self) -> list[int]:
        """Where in the memory of a set each buffer begins; -1 for those that are kept for something: they lie apart."""
        places, offsets = _Places(), [-1] * len(self._buffers)
        for index in sorted(range(len(self._buffers)), key=lambda i: -self._buffers[i].size):
            buffer = self._buffers[index]
            if buffer.kept_for is None:
                end = min(self._end(buffer), self._lifetimes.length)
                offsets[index] = places.find(buffer.busy_at, int(end), _spaced(buffer.size))
        return offsets

    @property
    def size(self) -> int:
        """Bytes of one set of buffers."""
        offsets = self._layout()
        return _extent(self._buffers, offsets) + sum(b.size for b, o in zip(self._buffers, offsets) if o < 0)

    def maker(self) -> Callable[[], tuple[Any, ...]]:
        """A function that makes a set of buffers: the arrays named in `made`, in that order."""
        places, offsets = [], self._layout()
        extent = _spaced(_extent(self._buffers, offsets))
        for buffer, offset in zip(self._buffers, offsets):
            places.append((offset if offset >= 0 else extent, buffer.size, offset < 0))
            extent += _spaced(buffer.size) if offset < 0 else 0
        made = [self._derived.get(name) or self.names[name] for name in self.made]

        def make() -> tuple[Any, ...]:
            block = _aligned(extent)  # in one piece: from 4 MiB on, NumPy asks the system for large pages
            raw = [block[start : start + size] for start, size, _ in places]
            for memory, (_, _, is_zero) in zip(raw, places):
                if is_zero:
                    memory.fill(0)
            return tuple([_array(raw, m) if isinstance(m, _Place) else _derived(raw, m) for m in made])

        return make


def _spaced(size: int) -> int:
    """A size so that the next buffer is aligned, and does not begin at the same place of a page."""
    size += -size % _ALIGNMENT
    return size if size % _PAGE else size + _SHIFT


def _extent(buffers: Sequence[_Buffer], offsets: Sequence[int]) -> int:
    return max([offset + buffer.size for buffer, offset in zip(buffers, offsets) if offset >= 0], default=0)


class _Places:
    """Ranges of memory that are in use for a time (of calls, both ends included)."""

    _SPAN = 32  # calls that are looked up together

    def __init__(self) -> None:
        self._spans: dict[int, list[tuple[int, int, int, int]]] = {}

    def find(self, start: int, end: int, size: int) -> int:
        """Book the tightest range of this size that is free all the time; where it begins."""
        spans = range(start // self._SPAN, end // self._SPAN + 1)
        near = {place for span in spans for place in self._spans.get(span, ())}
        best, best_gap, free_from = -1, math.inf, 0
        for first, stop, begin, last in sorted(near):
            if last < start or end < begin:
                continue
            gap = first - free_from
            if size <= gap < best_gap:
                best, best_gap = free_from, gap
            free_from = max(free_from, stop)
        offset = free_from if best < 0 else best
        for span in spans:
            self._spans.setdefault(span, []).append((offset, offset + size, start, end))
        return offset


def _aligned(size: int) -> Any:
    raw = np.empty(size + _PAGE, dtype=np.uint8)
    start = -raw.ctypes.data % _PAGE
    return raw[start : start + size]


def _array(raw: Sequence[Any], place: _Place, border: Border | None = None) -> Any:
    """The array at a place, with that much of its border."""
    whole = np.ndarray(place.whole_shape, dtype=place.dtype, buffer=raw[place.buffer])
    return whole if place.border is None else place.border.inner(whole, border)


def _derived(raw: Sequence[Any], derived: _Derived) -> Any:
    arrays = [None if place is None else _array(raw, place, border) for place, border in derived.sources]
    return derived.build(*arrays)
