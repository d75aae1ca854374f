"""CSVIter: batches from text files of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.training.io.array_iter import NDArrayIter


class CSVIter(NDArrayIter):
    """Rows of comma-separated numbers as samples of `data_shape`, with labels from another file (zeros without one).

    `round_batch=False` gives the incomplete last batch a `pad` too; the samples that fill it are the first ones.
    """

    def __init__(
        self,
        data_csv: str,
        data_shape: tuple[int, ...],
        label_csv: str | None = None,
        label_shape: tuple[int, ...] = (1,),
        batch_size: int = 1,
        round_batch: bool = True,
        dtype: Any = "float32",
        data_name: str = "data",
        label_name: str = "label",
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise MXNetError(f"CSVIter does not know {', '.join(sorted(kwargs))}")
        data = _read(data_csv, data_shape, dtype)
        label = _read(label_csv, label_shape, dtype) if label_csv else np.zeros((len(data), *label_shape), dtype)
        if len(label) != len(data):
            raise MXNetError(f"{data_csv} has {len(data)} rows, but {label_csv} has {len(label)}")
        label = label.reshape(len(label)) if tuple(label_shape) == (1,) else label
        self.round_batch = round_batch
        super().__init__(
            {data_name: nd.array(data, dtype=dtype)}, {label_name: nd.array(label, dtype=dtype)}, batch_size
        )

    def getdata(self) -> Any:
        """The data of the batch: one array, as MXNet's own file iterators give it."""
        return super().getdata()[0]

    def getlabel(self) -> Any:
        """The labels of the batch: one array."""
        return super().getlabel()[0]


def _read(path: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    try:
        values = np.loadtxt(path, delimiter=",", dtype=dtype, ndmin=2)
    except ValueError as error:
        raise MXNetError(f"{path} is not a file of comma-separated numbers: {error}") from error
    if values.shape[1] != math.prod(shape):
        raise MXNetError(f"{path} has rows of {values.shape[1]} numbers, which do not fit the shape {tuple(shape)}")
    return values.reshape(len(values), *shape)
