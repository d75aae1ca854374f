"""Datasets: samples by index, and what can be made of them lazily (transform, filter, shard, take, sample)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from autohybrid.ndarray import NDArray
from autohybrid.training.recordio import MXIndexedRecordIO

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]


class Dataset:
    """Base of the datasets: define `__getitem__(idx)` and `__len__()`."""

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, idx)")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__(self)")

    def filter(self, fn: Callable[[Any], Any]) -> Dataset:
        """The samples for which `fn(sample)` is true; `fn` sees every sample now."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards` nearly equal consecutive parts; the first ones are longer by one."""
        if num_shards <= 0 or not 0 <= index < num_shards:
            raise AssertionError(f"shard {index} of {num_shards} does not exist")
        each, extra = divmod(len(self), num_shards)
        start = each * index + min(index, extra)
        return _SampledDataset(self, SequentialSampler(each + (index < extra), start))

    def take(self, count: int | None) -> Dataset:
        """The first `count` samples (all of them for None)."""
        return _SampledDataset(self, SequentialSampler(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples that `sampler` names, in its order now. Raises TypeError for anything but a Sampler."""
        if not isinstance(sampler, Sampler):
            raise TypeError(f"a gluon.data.Sampler is needed, not {type(sampler).__name__}")
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Samples go through `fn(*sample)`: each time one is read, or once now with `lazy=False`."""
        lazily = _TransformedDataset(self, fn)
        return lazily if lazy else SimpleDataset([lazily[index] for index in range(len(lazily))])

    def transform_first(self, fn: Callable[[Any], Any], lazy: bool = True) -> Dataset:
        """Like `transform`, but `fn` sees only the first part of each sample (the data, not the label)."""
        return self.transform(_FirstOnly(fn), lazy)


class SimpleDataset(Dataset):
    """Anything with `__getitem__` and `__len__` (a list) as a Dataset."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]


class _TransformedDataset(Dataset):
    def __init__(self, data: Any, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _FirstOnly:
    """A class, not a closure, so that it can be pickled for worker processes."""

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self._fn = fn

    def __call__(self, x: Any, *rest: Any) -> Any:
        return (self._fn(x), *rest) if rest else self._fn(x)


class _SampledDataset(Dataset):
    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        self._indices = list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: int) -> Any:
        return self._dataset[self._indices[idx]]


class ArrayDataset(Dataset):
    """Several arrays (or lists) of one length side by side: sample i is `(first[i], second[i]...)`."""

    def __init__(self, *args: Sequence[Any] | NDArray) -> None:
        if not args:
            raise AssertionError("ArrayDataset needs at least one array")
        self._length = len(args[0])
        for position, data in enumerate(args):
            if len(data) != self._length:
                raise AssertionError(
                    f"all arrays must have one length, but array 0 has {self._length} and array {position} {len(data)}"
                )
        # Vectors as NumPy: their elements are then plain numbers, cheap to collect.
        self._data = [d.asnumpy() if isinstance(d, NDArray) and d.ndim == 1 else d for d in args]

    def __getitem__(self, idx: int) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple([data[idx] for data in self._data])

    def __len__(self) -> int:
        return self._length


class RecordFileDataset(Dataset):
    """The records (bytes) of a `.rec` file that has its `.idx` file beside it."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.idx_file = os.path.splitext(filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> bytes:
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)
