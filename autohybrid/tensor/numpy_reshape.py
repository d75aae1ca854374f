"""Target shapes of numpy mode: -1 in `np.reshape`, and the codes -1 to -6 of `npx.reshape`.

The meaning of the codes is MXNet 1.9.1's: they are not those of the classic `reshape`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from autohybrid.errors import MXNetError


def resolve_numpy_shape(source: Sequence[int], target: Sequence[int]) -> tuple[int, ...]:
    """The extents that `target` asks for, of an array of shape `source` (whose extents may be -1, unknown).

    Raises MXNetError when the number of elements differs, or for more than one -1.
    """
    return _filled(tuple(source), tuple(target))


@lru_cache(4096)
def _filled(source: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    if target.count(-1) > 1 or min(target, default=0) < -1:
        raise MXNetError(f"the target shape {target} may have one -1, and no other negative extent")
    if -1 in source:
        return target
    size, known = prod(source), prod(n for n in target if n != -1)
    if -1 in target:
        if known == 0 or size % known:
            raise MXNetError(f"an array of shape {source} ({size} elements) cannot be reshaped to {target}")
        return tuple(size // known if n == -1 else n for n in target)
    if known != size:
        raise MXNetError(f"an array of shape {source} ({size} elements) cannot be reshaped to {target} ({known})")
    return target


def resolve_newshape(source: Sequence[int], codes: Sequence[int], reverse: bool = False) -> tuple[int, ...]:
    """The extents that the codes of `npx.reshape` ask for; `reverse` reads both from the right.

    -1 follows from the number of elements, -2 keeps an extent, -3 drops an extent of 1, -4 keeps all that remain,
    -5 multiplies two, -6 splits one into the two codes behind it, of which one may be -1. Raises MXNetError for codes
    that do not fit.

    >>> resolve_newshape((2, 3, 4), (-5, -2))
    (6, 4)
    """
    if not reverse:
        return _decoded(tuple(source), tuple(codes))
    return _decoded(tuple(source)[::-1], _turned(tuple(codes)))[::-1]


def _turned(codes: tuple[int, ...]) -> tuple[int, ...]:
    """The codes from the right, where -6 stays in front of its two numbers."""
    groups: list[tuple[int, ...]] = []
    place = 0
    while place < len(codes):
        width = 3 if codes[place] == -6 else 1
        group = codes[place : place + width]
        groups.append((-6, *group[:0:-1]) if width == 3 else group)
        place += width
    return tuple(code for group in reversed(groups) for code in group)


@lru_cache(4096)
def _decoded(source: tuple[int, ...], codes: tuple[int, ...]) -> tuple[int, ...]:
    rest = list(source)
    target: list[int] = []
    queue = list(codes)

    def take(code: int) -> int:
        if not rest:
            raise MXNetError(f"code {code} of {codes} needs a further axis, but shape {source} has no more")
        return rest.pop(0)

    while queue:
        code = queue.pop(0)
        if code == -2:
            target.append(take(code))
        elif code == -3:
            extent = take(code)
            if extent not in (1, -1):
                raise MXNetError(f"code -3 of {codes} drops an extent of 1, but that of shape {source} is {extent}")
        elif code == -4:
            target += rest
            rest.clear()
        elif code == -5:
            first, second = take(code), take(code)
            target.append(-1 if -1 in (first, second) else first * second)
        elif code == -6:
            target += _split(take(code), queue, codes)
        elif code < -6:
            raise MXNetError(f"{code} is no code; they are -1 to -6")
        else:
            target.append(code)
            if rest:
                rest.pop(0)
    return _filled(source, tuple(target)) if -1 not in source else tuple(target)


def _split(extent: int, queue: list[int], codes: tuple[int, ...]) -> list[int]:
    """The two extents that the codes behind -6 say."""
    if len(queue) < 2:
        raise MXNetError(f"code -6 of {codes} needs two numbers behind it")
    first, second = queue.pop(0), queue.pop(0)
    if first == -1 and second == -1:
        raise MXNetError(f"only one of the two numbers behind code -6 of {codes} may be -1")
    known = second if first == -1 else first
    if extent != -1:
        if known <= 0 or extent % known:
            raise MXNetError(f"code -6 of {codes} cannot split an extent of {extent} into {first} and {second}")
        first = extent // second if first == -1 else first
        second = extent // first if second == -1 else second
        if first * second != extent:
            raise MXNetError(f"code -6 of {codes} cannot split an extent of {extent} into {first} and {second}")
    return [first, second]
