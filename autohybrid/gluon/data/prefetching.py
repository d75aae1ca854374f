"""The iterators that hand out batches made ahead of time, in the order of the sampler."""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from multiprocessing import TimeoutError as WorkerTimeoutError
from typing import Any

import numpy as np

from autohybrid.gluon.data.workers import WorkerPool
from autohybrid.numpy_semantics import is_np_array, is_np_shape, np_array, np_shape

Batchify = Callable[[list[Any]], Any]


class _Prefetching:
    """Keeps up to `prefetch` batches being made ahead of the one that is asked for."""

    def __init__(self, batch_sampler: Any, prefetch: int) -> None:
        self._indices: Iterator[list[Any]] = iter(batch_sampler)
        self._pending: deque[Any] = deque()
        for _ in range(prefetch):
            self._start_next()

    def _start(self, samples: list[Any]) -> Any:
        raise NotImplementedError

    def _finish(self, started: Any) -> Any:
        raise NotImplementedError

    def _start_next(self) -> None:
        samples = next(self._indices, None)
        if samples is not None:
            self._pending.append(self._start(samples))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._start_next()
        if not self._pending:
            raise StopIteration
        return self._finish(self._pending.popleft())


class ProcessIterator(_Prefetching):
    """Batches made by worker processes. `epoch` is the number of this round over the data."""

    def __init__(
        self, pool: WorkerPool, batchify_fn: Batchify, batch_sampler: Any, prefetch: int, timeout: float, epoch: int
    ) -> None:
        self._pool = pool
        self._batchify_fn = batchify_fn
        self._timeout = timeout
        self._seed = _seed_material() + epoch * 0x9E3779B1
        self._count = 0
        super().__init__(batch_sampler, prefetch)

    def _start(self, samples: list[Any]) -> Any:
        self._count += 1
        return self._pool.submit(samples, self._batchify_fn, (self._seed + self._count * 0x85EBCA6B) % 2**32)

    def _finish(self, started: Any) -> Any:
        return self._pool.get(started, self._timeout)


class ThreadIterator(_Prefetching):
    """Batches made by threads."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        dataset: Any,
        batchify_fn: Batchify,
        batch_sampler: Any,
        prefetch: int,
        timeout: float,
    ) -> None:
        self._pool = pool
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._timeout = timeout
        super().__init__(batch_sampler, prefetch)

    def _start(self, samples: list[Any]) -> Future[Any]:
        return self._pool.submit(self._make, samples, is_np_shape(), is_np_array())

    def _make(self, samples: list[Any], shape: bool, array: bool) -> Any:
        with np_shape(shape), np_array(array):
            return self._batchify_fn([self._dataset[i] for i in samples])

    def _finish(self, started: Any) -> Any:
        try:
            return started.result(self._timeout)
        except FutureTimeoutError:
            raise WorkerTimeoutError(
                f"a thread of the DataLoader gave nothing for {self._timeout} seconds; raise `timeout`"
            ) from None


def _seed_material() -> int:
    """A number that depends on the state of the random generators (so on their seeds), without advancing them."""
    state: Any = np.random.get_state()
    return zlib.crc32(state[1].tobytes()) ^ hash(random.getstate()[1]) & 0xFFFFFFFF
