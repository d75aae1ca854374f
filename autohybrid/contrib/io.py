"""`mx.contrib.io`: a Gluon DataLoader as an iterator for Module."""

from __future__ import annotations

from typing import Any

from autohybrid import ndarray as nd
from autohybrid.ndarray import NDArray
from autohybrid.training.io import DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """The batches of a DataLoader that gives (data, label); a shorter last one is filled up with zeros (`pad`)."""

    def __init__(
        self, loader: Any, data_name: str = "data", label_name: str = "softmax_label", dtype: Any = "float32"
    ) -> None:
        super().__init__()
        self._loader = loader
        data, label = next(iter(loader))
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current_batch: Any = None
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self._iter = iter(self._loader)

    def iter_next(self) -> bool:
        """Go to the next batch; False at the end."""
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def getdata(self) -> list[NDArray]:
        """The data of the batch."""
        return [self._filled(self._current_batch[0])]

    def getlabel(self) -> list[NDArray]:
        """The labels of the batch."""
        return [self._filled(self._current_batch[1])]

    def getpad(self) -> int:
        """How many samples at the end only fill the batch up."""
        return int(self.batch_size - self._current_batch[0].shape[0])

    def _filled(self, array: NDArray) -> NDArray:
        if not self.getpad():
            return array.astype(self.dtype)  # type: ignore[no-any-return]
        whole = nd.zeros((self.batch_size, *array.shape[1:]), dtype=self.dtype)
        whole[: array.shape[0]] = array
        return whole
