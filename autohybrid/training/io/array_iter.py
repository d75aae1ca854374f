"""NDArrayIter: batches from arrays in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter

_HANDLING = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Batches of `batch_size` samples from arrays (NDArray, NumPy, csr), lists or dicts of them.

    `last_batch_handle`: an incomplete last batch is filled from the beginning ('pad'), dropped ('discard'), or begins
    the next round ('roll_over'). `shuffle` draws a new order from NumPy's generator for each round.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        if last_batch_handle not in _HANDLING:
            raise ValueError(f"last_batch_handle must be one of {', '.join(_HANDLING)}, not {last_batch_handle!r}")
        self.data = _named(data, data_name, False)
        self.label = _named(label, label_name, True)
        sparse = any(getattr(array, "stype", "default") != "default" for _, array in self.data + self.label)
        if sparse and last_batch_handle != "discard":
            raise NotImplementedError("csr data needs last_batch_handle='discard'")
        self.num_data: int = self.data[0][1].shape[0]
        self.idx = np.arange(self.num_data)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.cursor = -batch_size
        self._kept: tuple[list[NDArray], list[NDArray]] | None = None
        self.reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the data of a batch."""
        return [self._describe(name, array) for name, array in self.data]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of a batch."""
        return [self._describe(name, array) for name, array in self.label]

    def _describe(self, name: str, array: Any) -> DataDesc:
        axis = self.layout.find("N")
        shape = (*array.shape[:axis], self.batch_size, *array.shape[axis + 1 :])
        return DataDesc(name, shape, array.dtype, layout=self.layout)

    # -- rounds ------------------------------------------------------------------------------------------------------
    def hard_reset(self) -> None:
        """Start again, without the samples kept for the next round."""
        if self.shuffle:
            self._shuffle()
        self.cursor = -self.batch_size
        self._kept = None

    def reset(self) -> None:
        if self.shuffle:
            self._shuffle()
        if self.last_batch_handle == "roll_over" and self.num_data - self.batch_size < self.cursor < self.num_data:
            self.cursor -= self.num_data + self.batch_size
        else:
            self.cursor = -self.batch_size

    def _shuffle(self) -> None:
        np.random.shuffle(self.idx)
        self.data = [(name, _permuted(array, self.idx)) for name, array in self.data]
        self.label = [(name, _permuted(array, self.idx)) for name, array in self.label]

    def iter_next(self) -> bool:
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        data, label = self._batch(self.data, 0), self._batch(self.label, 1)
        if data[0].shape[self.layout.find("N")] != self.batch_size:
            self._kept = data, label
            raise StopIteration
        if self.cursor < 0:
            self._kept = None
        return DataBatch(data=data, label=label, pad=self.getpad())

    # -- batches -----------------------------------------------------------------------------------------------------
    def getdata(self) -> list[NDArray]:
        return self._batch(self.data, 0)

    def getlabel(self) -> list[NDArray]:
        return self._batch(self.label, 1)

    def getpad(self) -> int:
        if self.last_batch_handle == "pad":
            return max(0, self.cursor + self.batch_size - self.num_data)
        return max(0, -self.cursor) if self.last_batch_handle == "roll_over" else 0

    def _batch(self, source: list[tuple[str, Any]], which: int) -> list[NDArray]:
        if self.cursor >= self.num_data:
            raise AssertionError("the iterator is at its end; call reset()")
        end = self.cursor + self.batch_size
        if self.cursor < 0:
            if self._kept is None:
                raise AssertionError("the samples of the last round's end are gone; call hard_reset()")
            return [self._join([kept, self._part(a, 0, end)]) for kept, (_, a) in zip(self._kept[which], source)]
        if self.last_batch_handle != "pad" or end <= self.num_data:
            return [self._part(array, self.cursor, min(end, self.num_data)) for _, array in source]
        return [self._join(self._wrapped(array)) for _, array in source]

    def _wrapped(self, array: Any) -> list[NDArray]:
        """The samples from the cursor on, then from the beginning, as often as it takes to fill a batch."""
        parts = [self._part(array, self.cursor, self.num_data)]
        missing = self.cursor + self.batch_size - self.num_data
        while missing > 0:
            count = min(missing, self.num_data)
            parts.append(self._part(array, 0, count))
            missing -= count
        return parts

    def _part(self, array: Any, begin: int, end: int) -> NDArray:
        axis = self.layout.find("N")
        if axis == 0:
            part = array[begin:end]
            return part if isinstance(part, NDArray) else nd.array(part, dtype=part.dtype)
        return nd.slice_axis(array, axis=axis, begin=begin, end=end)  # type: ignore[no-any-return]

    def _join(self, parts: list[NDArray]) -> NDArray:
        return parts[0] if len(parts) == 1 else nd.concat(*parts, dim=self.layout.find("N"))


def _named(data: Any, default: str, may_be_empty: bool) -> list[tuple[str, Any]]:
    """(name, array) pairs from one array, a list or a dict; lone arrays get `default`, lists `default_0`..."""
    if data is None:
        data = []
    if not isinstance(data, (list, tuple, Mapping)):
        data = [data]
    if not data and not may_be_empty:
        raise AssertionError(f"`{default}` is empty")
    if isinstance(data, Mapping):
        pairs = list(data.items())
    elif len(data) == 1:
        pairs = [(default, data[0])]
    else:
        pairs = [(f"_{position}_{default}", array) for position, array in enumerate(data)]
    return [(name, _as_array(name, array)) for name, array in sorted(pairs, key=lambda pair: pair[0])]


def _as_array(name: str, array: Any) -> Any:
    if isinstance(array, NDArray):
        return array
    if hasattr(array, "tocsr"):  # a matrix of scipy.sparse
        return nd.sparse.array(array)
    if isinstance(array, np.ndarray):
        return nd.array(array)  # float32, whatever it was: labels are bound beside scores in float32
    if hasattr(array, "shape") and hasattr(array, "__getitem__"):  # an h5py dataset stays on disk
        return array
    try:
        return nd.array(array)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`{name}` must be an NDArray, a NumPy array or nested lists, not {type(array).__name__}"
        ) from error


def _permuted(array: Any, order: np.ndarray[Any, Any]) -> NDArray:
    if isinstance(array, NDArray) and array.stype != "default":
        return nd.array(array.asnumpy()[order], array.context, array.dtype).tostype(array.stype)
    if isinstance(array, NDArray):
        return nd.array(array.asnumpy()[order], array.context)  # float32, as MXNet's shuffling makes it
    return nd.array(array[:][order])
