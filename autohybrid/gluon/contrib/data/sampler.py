"""IntervalSampler: every so-many-th index, then the ones in between."""

from __future__ import annotations

from collections.abc import Iterator

from autohybrid.gluon.data.sampler import Sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(Sampler):
    """0, `interval`, 2 `interval`... below `length`; with `rollover` then 1, 1 + `interval`... until all were given.

    Raises AssertionError when the interval is longer than the whole.

    >>> list(IntervalSampler(5, 2))
    [0, 2, 4, 1, 3]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if interval > length:
            raise AssertionError(f"`interval` ({interval}) must not be larger than `length` ({length})")
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else -(-self._length // self._interval)
