"""The iterator over a pool of workers that data loaders of other packages derive from."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

from autohybrid.context import Context
from autohybrid.tensor.array import NDArray


class MultiWorkerIter:
    """Batches that a `multiprocessing` pool makes, in the order of the sampler, `prefetch` of them ahead.

    Subclasses override `_push_next`, which hands the next batch to the pool and stores what `apply_async` returned in
    `_data_buffer[_sent_idx]`. Workers return pickled bytes.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable[[list[Any]], Any],
        batch_sampler: Iterable[Any],
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable[..., bytes] | None = None,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ) -> None:
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._worker_fn = worker_fn
        self._dataset = dataset
        self._data_loader = data_loader
        self._timeout = timeout
        self._data_buffer: dict[int, Any] = {}
        self._rcvd_idx = 0
        self._sent_idx = 0
        self._iter = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)  # type: ignore[arg-type]

    def _push_next(self) -> None:
        """Hand the next batch to the pool, if there is one."""
        samples = next(self._iter, None)
        if samples is None:
            return
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
            self._worker_fn, (samples, self._batchify_fn, self._dataset)
        )
        self._sent_idx += 1

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        made = self._data_buffer.pop(self._rcvd_idx)
        self._rcvd_idx += 1
        return pickle.loads(made.get(self._timeout))

    def __iter__(self) -> MultiWorkerIter:
        return self


def as_in_context(data: Any, ctx: Context) -> Any:
    """Arrays in nested lists, on `ctx`."""
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [as_in_context(item, ctx) for item in data]
    return data
