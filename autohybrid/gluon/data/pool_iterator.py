"""An iterator over batches made by a `multiprocessing.Pool` of the caller; GluonCV derives its own loaders from it.

The DataLoader here does not use it: its workers have pipes of their own (`workers.py`). The names of the fields are
MXNet's, since subclasses read them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from autohybrid.context import cpu_pinned
from autohybrid.gluon.data.collation import move


class PoolIterator:
    """Batches in the order of `batch_sampler`. `worker_fn(samples, batchify_fn, dataset)` makes one in the pool.

    What it gives is pickled bytes when `dataset` is None (the pool's processes know it), else the batch itself.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable[..., Any],
        batch_sampler: Any,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable[..., Any] | None = None,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ) -> None:
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._worker_fn = worker_fn
        self._dataset = dataset
        self._data_loader = data_loader  # kept alive as long as this iterator is
        self._timeout = timeout
        self._data_buffer: dict[int, Any] = {}
        self._rcvd_idx = 0
        self._sent_idx = 0
        self._iter = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def _push_next(self) -> None:
        samples = next(self._iter, None)
        if samples is None:
            return
        task = self._worker_pool.apply_async(self._worker_fn, (samples, self._batchify_fn, self._dataset))
        self._data_buffer[self._sent_idx] = task
        self._sent_idx += 1

    def __iter__(self) -> PoolIterator:
        return self

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        made = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        self._rcvd_idx += 1
        batch = pickle.loads(made) if self._dataset is None else made
        return move(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def next(self) -> Any:
        """The next batch."""
        return self.__next__()
