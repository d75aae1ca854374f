"""Iterators around other iterators: ResizeIter (another length), PrefetchingIter (ahead of time,
in a thread), DummyIter (one batch for ever)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter


class ResizeIter(DataIter):
    """`size` batches a round, from an iterator that is started again whenever it ends."""

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch: DataBatch | None = None
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def next(self) -> DataBatch:
        if self.cur == self.size:
            raise StopIteration
        try:
            batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            batch = self.data_iter.next()
        self.cur += 1
        self.current_batch = batch
        return batch  # type: ignore[no-any-return]


class DummyIter(DataIter):
    """The first batch of an iterator, for ever: to measure speed without reading data."""

    def __init__(self, real_iter: Any) -> None:
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch: DataBatch = next(real_iter)

    def next(self) -> DataBatch:
        return self.the_batch


class PrefetchingIter(DataIter):
    """Reads one or several iterators side by side, one batch ahead, in a thread.

    `rename_data`, `rename_label`: for each iterator, a dict from its names to those of the batch.
    """

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        if not self.iters:
            raise AssertionError("PrefetchingIter needs at least one iterator")
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        self.current_batch: DataBatch | None = None
        self._round: _Round | None = None
        self._begin()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of all iterators."""
        return _renamed([each.provide_data for each in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of all iterators."""
        return _renamed([each.provide_label for each in self.iters], self.rename_label)

    def _begin(self) -> None:
        self._round = _Round(self.iters)

    def reset(self) -> None:
        if self._round is not None:
            self._round.stop()
        for each in self.iters:
            each.reset()
        self._begin()

    def next(self) -> DataBatch:
        assert self._round is not None
        batches = self._round.get()
        if batches is None:
            raise StopIteration
        first = batches[0]
        if any(batch.pad != first.pad for batch in batches):
            raise AssertionError("the iterators end at different places")
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data or ()],
            [array for batch in batches for array in batch.label or ()],
            first.pad,
            first.index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        return self.current_batch

    def __del__(self) -> None:
        if getattr(self, "_round", None) is not None:
            self._round.stop()  # type: ignore[union-attr]


class _Round:
    """One pass over the iterators, a batch ahead. What goes wrong in the thread is raised where batches are taken."""

    def __init__(self, iters: Sequence[Any]) -> None:
        self._iters = iters
        self._ready: queue.Queue[Any] = queue.Queue(maxsize=1)
        self._stopped = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            found: Any
            try:
                found = [each.next() for each in self._iters]
            except StopIteration:
                found = None
            except BaseException as error:
                found = error
            self._hand_over(found)
            if not isinstance(found, list):
                return

    def _hand_over(self, found: Any) -> None:
        while not self._stopped.is_set():
            try:
                self._ready.put(found, timeout=0.1)
                return
            except queue.Full:
                continue

    def get(self) -> list[DataBatch] | None:
        if self._ended:
            return None
        found = self._ready.get()
        if isinstance(found, BaseException):
            raise found
        self._ended = found is None
        return found  # type: ignore[no-any-return]

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def _renamed(groups: Sequence[Sequence[Any]], names: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
    described = [[d if isinstance(d, DataDesc) else DataDesc(*d) for d in group] for group in groups]
    if names is None:
        return [d for group in described for d in group]
    return [DataDesc(new[d.name], d.shape, d.dtype) for new, group in zip(names, described) for d in group]
