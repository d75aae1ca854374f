"""The little language of `reshape`: 0, -1, -2, -3 and -4 in a target shape. Shared by the operator and the method.

Owns `resolve_reshape`; the meaning is MXNet 1.9.1's, except that a target with another number of elements raises
(MXNet accepts it and reads or writes outside the array).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from autohybrid.errors import ElementCountError, MXNetError


class _Reading:
    """Where the reading of the codes stands: extents of the source used so far, the target, its inferred place."""

    def __init__(self, source: Sequence[int], codes: Sequence[int]) -> None:
        self.source = list(source)
        self.codes = list(codes)
        self.position = 0
        self.target: list[int] = []
        self.inferred: int | None = None
        self.copied_unknown = 0

    def take(self, code: int) -> int:
        if self.position >= len(self.source):
            raise MXNetError(
                f"reshape code {code} needs a further axis of the input, which has only {len(self.source)} "
                f"({tuple(self.source)}); `shape` is {tuple(self.codes)}"
            )
        self.position += 1
        return self.source[self.position - 1]

    def copy(self, extent: int) -> None:
        self.copied_unknown += extent == -1
        self.target.append(extent)

    def split(self, extent: int, first: int, second: int) -> None:
        if first == -1 and second == -1:
            raise MXNetError("reshape code -4 splits an axis in two extents, of which only one may be -1")
        known = second if first == -1 else first
        if known <= 0 and -1 in (first, second):
            raise MXNetError(f"reshape code -4 takes positive extents or one -1, got {first}, {second}")
        if extent != -1:
            first = extent // second if first == -1 else first
            second = extent // first if second == -1 else second
            if first * second != extent:
                raise MXNetError(f"reshape code -4 cannot split an axis of extent {extent} in {first} and {second}")
        self.target += [first, second]


def resolve_reshape(source: Sequence[int], codes: Sequence[int], reverse: bool = False) -> tuple[int, ...]:
    """The shape that `codes` ask for, of an array of shape `source` (extents may be -1, unknown).

    0 keeps an extent, -1 is inferred (once), -2 keeps all remaining ones, -3 merges two, -4 splits one in the two
    codes behind it. `reverse` reads from the right, where -4 stands behind its two codes. Raises MXNetError for codes
    that do not fit `source`.

    >>> resolve_reshape((2, 3, 4), (-3, 0))
    (6, 4)
    """
    return _resolve(tuple(source), tuple(codes), reverse)


@lru_cache(4096)
def _resolve(source: tuple[int, ...], codes: tuple[int, ...], reverse: bool) -> tuple[int, ...]:
    if not codes:
        raise MXNetError("`shape` was not given: reshape needs at least one extent")
    step = -1 if reverse else 1
    reading = _Reading(source[::step], codes[::step])
    _read(reading)
    _fill_inferred(reading)
    target = reading.target
    if -1 not in target and -1 not in reading.source and prod(target) != prod(reading.source):
        raise ElementCountError(
            f"cannot reshape {source} ({prod(source)} elements) to {tuple(target[::step])} ({prod(target)} elements)"
        )
    return tuple(target[::step])


def _read(reading: _Reading) -> None:
    codes = iter(reading.codes)
    for code in codes:
        if code > 0:
            reading.target.append(code)
            reading.position += 1
        elif code == 0:
            reading.copy(reading.take(code))
        elif code == -1:
            if reading.inferred is not None:
                raise MXNetError(f"only one extent of a reshape may be -1, got {tuple(reading.codes)}")
            reading.inferred = len(reading.target)
            reading.target.append(-1)
            reading.position += 1
        elif code == -2:
            while reading.position < len(reading.source):
                reading.copy(reading.take(code))
        elif code == -3:
            first, second = reading.take(code), reading.take(code)
            reading.target.append(-1 if -1 in (first, second) else first * second)
        elif code == -4:
            extent, left, right = reading.take(code), next(codes, None), next(codes, None)
            if left is None or right is None:
                raise MXNetError("reshape code -4 needs two extents behind it")
            reading.split(extent, left, right)
        else:
            raise MXNetError(f"{code} is not a reshape code; known are extents above 0 and 0, -1, -2, -3, -4")


def _fill_inferred(reading: _Reading) -> None:
    """Put the extent that -1 stands for; unknown extents that were merely copied cancel out."""
    at, target, source = reading.inferred, reading.target, reading.source
    if at is None:
        return
    rest = target[:at] + target[at + 1 :]
    if source.count(-1) != reading.copied_unknown or rest.count(-1) != reading.copied_unknown:
        return
    total, divisor = prod(x for x in source if x != -1), prod(x for x in rest if x != -1)
    if divisor == 0 or total % divisor:
        raise ElementCountError(
            f"cannot infer the -1 in reshape code {tuple(reading.codes)} for an input of shape {tuple(source)}: "
            f"{total} elements do not divide by {divisor}"
        )
    target[at] = total // divisor


def fill_unknown_extent(source: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """`source` with its one unknown extent filled so that it has `elements` elements; unchanged if that cannot be."""
    if source.count(-1) != 1:
        return source
    known = prod(x for x in source if x != -1)
    if known == 0 or elements % known:
        return source
    return tuple(elements // known if x == -1 else x for x in source)
