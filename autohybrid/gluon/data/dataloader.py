"""DataLoader: batches of a dataset, made here, by threads or by processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler
from typing import Any

from autohybrid.context import cpu_pinned
from autohybrid.gluon.data.collation import default_batchify_fn, default_mp_batchify_fn, move
from autohybrid.gluon.data.pool_iterator import PoolIterator
from autohybrid.gluon.data.prefetching import ProcessIterator, ThreadIterator
from autohybrid.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from autohybrid.gluon.data.workers import WorkerPool

__all__ = ["DataLoader", "ForkingPickler", "default_batchify_fn", "default_mp_batchify_fn"]

#: Under MXNet's private names, which GluonCV and GluonNLP import.
_MultiWorkerIter = PoolIterator
_as_in_context = move


class DataLoader:
    """Iterates over batches of `dataset`.

    batch_size, shuffle, sampler, last_batch   which samples make a batch, in which order ('keep', 'discard' or
                   'rollover' the last one); or `batch_sampler` in place of all four
    batchify_fn    from a list of samples to a batch; stacks them by default
    num_workers    processes that make batches ahead; threads with `thread_pool=True`; 0: made when asked for
    prefetch       how many batches are made ahead (default: twice the number of workers)
    timeout        seconds to wait for a worker
    auto_reload    begin with the next round's batches as soon as one round ends

    Example::

        loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=32, shuffle=True)
        for data, label in loader:
            ...
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        self._worker_pool: Any = None
        if timeout <= 0:
            raise AssertionError(f"timeout must be positive, not {timeout}")
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = _choose_batches(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._batchify_fn = batchify_fn or default_batchify_fn
        self.auto_reload = auto_reload
        if self._num_workers:
            count = self._num_workers
            self._worker_pool = ThreadPoolExecutor(count) if thread_pool else WorkerPool(count, dataset)
        self._epoch = 0
        self._iter: Iterator[Any] | None = None
        if auto_reload:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        if self._iter is None:
            self.refresh()
        current, self._iter = self._iter, None
        assert current is not None
        for batch in current:
            yield move(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch
        if self.auto_reload and self._iter is None:
            self.refresh()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def refresh(self) -> None:
        """Start a new round now, with its batches being made ahead."""
        self._iter = self._make_iterator()

    def clean(self) -> None:
        """Drop the round that was started ahead."""
        self._iter = None

    def _make_iterator(self) -> Iterator[Any]:
        if self._worker_pool is None:
            return (self._batchify_fn([self._dataset[i] for i in batch]) for batch in self._batch_sampler)
        ahead = self._batchify_fn, self._batch_sampler, self._prefetch, self._timeout
        if isinstance(self._worker_pool, ThreadPoolExecutor):
            return ThreadIterator(self._worker_pool, self._dataset, *ahead)
        self._epoch += 1
        return ProcessIterator(self._worker_pool, *ahead, self._epoch)


def _choose_batches(
    dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None, batch_sampler: Any
) -> Any:
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError(
                "batch_sampler takes the place of batch_size, shuffle, sampler and last_batch: give only one"
            )
        return batch_sampler
    if batch_size is None:
        raise ValueError("give batch_size, or a batch_sampler")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError("shuffle has no meaning with a sampler, which decides the order")
    return BatchSampler(sampler, batch_size, last_batch or "keep")
