"""Worker processes and threads that make batches ahead of time, and the iterator that hands them out in order."""

from __future__ import annotations

import multiprocessing
import multiprocessing.pool
import pickle
import random
import signal
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autohybrid.numpy_semantics import is_np_array, is_np_shape, set_np
from autohybrid.tensor import random_state

Make = Callable[[list[Any], Callable[[list[Any]], Any]], Any]

#: The dataset of this worker process, set once when it starts, so that tasks need not carry it.
_dataset: Any = None


def make_process_pool(count: int, dataset: Any) -> Any:
    """`count` processes that know `dataset`. They are forked where that is safe, so that it need not be pickled."""
    context = multiprocessing.get_context(_start_method())
    switches = is_np_shape(), is_np_array()
    return context.Pool(count, initializer=_start_worker, initargs=(dataset, switches, _seed_material()))


def make_thread_pool(count: int) -> Any:
    """`count` threads."""
    return multiprocessing.pool.ThreadPool(count)


def _start_method() -> str | None:
    # A process that uses CUDA must not fork; macOS's own libraries do not survive it either.
    forks = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    return "fork" if forks and "cupy" not in sys.modules else None


def _seed_material() -> int:
    """A number that depends on the state of the random generators (so on their seeds), without advancing them."""
    return zlib.crc32(np.random.get_state()[1].tobytes()) ^ hash(random.getstate()[1]) & 0xFFFFFFFF  # type: ignore[index]


def _start_worker(dataset: Any, switches: tuple[bool, bool], material: int) -> None:
    global _dataset
    _dataset = dataset
    set_np(*switches)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it ends the workers
    # Forked workers would all draw the same numbers, and augment every image alike.
    number = (material + multiprocessing.current_process()._identity[0]) % 2**32
    np.random.seed(number)
    random.seed(number)
    random_state.seed(number)


def make_in_process(samples: list[Any], batchify_fn: Callable[[list[Any]], Any]) -> bytes:
    """A batch as bytes, in a worker process."""
    return pickle.dumps(batchify_fn([_dataset[i] for i in samples]), pickle.HIGHEST_PROTOCOL)


class BatchIterator:
    """Batches in the order of `batch_sampler`, up to `prefetch` of them being made ahead of the one asked for."""

    def __init__(
        self,
        pool: Any,
        dataset: Any,
        batchify_fn: Callable[[list[Any]], Any],
        batch_sampler: Any,
        prefetch: int,
        timeout: float,
        owner: Any,
    ) -> None:
        self._pool = pool
        self._is_threads = isinstance(pool, multiprocessing.pool.ThreadPool)
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._indices: Iterator[list[Any]] = iter(batch_sampler)
        self._pending: deque[Any] = deque()
        self._timeout = timeout
        self._owner = owner  # keeps the DataLoader, and so its pool, alive while this iterator is in use
        for _ in range(prefetch):
            self._start_next()

    def _start_next(self) -> None:
        samples = next(self._indices, None)
        if samples is None:
            return
        if self._is_threads:
            task = self._pool.apply_async(self._make_here, (samples, is_np_shape(), is_np_array()))
        else:
            task = self._pool.apply_async(make_in_process, (samples, self._batchify_fn))
        self._pending.append(task)

    def _make_here(self, samples: list[Any], shape: bool, array: bool) -> Any:
        from autohybrid.numpy_semantics import np_array, np_shape

        with np_shape(shape), np_array(array):
            return self._batchify_fn([self._dataset[i] for i in samples])

    def __iter__(self) -> BatchIterator:
        return self

    def __next__(self) -> Any:
        self._start_next()
        if not self._pending:
            raise StopIteration
        task = self._pending.popleft()
        try:
            made = task.get(self._timeout)
        except multiprocessing.TimeoutError:
            self._pool.terminate()
            raise multiprocessing.TimeoutError(
                f"a worker of the DataLoader gave nothing for {self._timeout} seconds: the transform may be slow "
                "(raise `timeout`), or the worker was ended, for instance for lack of memory (lower `num_workers`)"
            ) from None
        return made if self._is_threads else pickle.loads(made)
