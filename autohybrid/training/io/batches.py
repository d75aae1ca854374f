"""What data iterators give: DataDesc, DataBatch, and DataIter, the base of the iterators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autohybrid.ndarray import NDArray


class _NameAndShape(NamedTuple):
    name: str
    shape: Any


class DataDesc(_NameAndShape):
    """The name and shape of an input, with its dtype and layout (the 'N' of a layout is the batch axis)."""

    dtype: Any
    layout: str | None

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str | None = "NCHW") -> DataDesc:
        made = super().__new__(cls, name, shape)
        made.dtype = dtype
        made.layout = layout
        return made

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The position of 'N' in a layout: -1 if there is none, 0 for no layout."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes: Sequence[Any], types: Sequence[Any] | None) -> list[DataDesc]:
        """Descriptions from (name, shape) and (name, dtype) pairs."""
        known = dict(types or ())
        return [
            DataDesc(name, shape, known[name]) if types is not None else DataDesc(name, shape) for name, shape in shapes
        ]


class DataBatch:
    """One batch: lists of data and label arrays, and how many samples at its end only fill it up (`pad`)."""

    def __init__(
        self,
        data: Sequence[NDArray] | None,
        label: Sequence[NDArray] | None = None,
        pad: int | None = None,
        index: Any = None,
        bucket_key: Any = None,
        provide_data: Any = None,
        provide_label: Any = None,
    ) -> None:
        for what, arrays in (("data", data), ("label", label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise AssertionError(f"`{what}` of a batch must be a list of arrays, not {type(arrays).__name__}")
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self) -> str:
        shapes = [array.shape for array in self.data or ()]
        labels = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {shapes} label shapes: {labels}"


class DataIter:
    """Base of the iterators over DataBatches. Subclasses define `next()`, or `iter_next()` and `get...()`."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Start again."""

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Go to the next batch; False at the end."""
        raise NotImplementedError(f"{type(self).__name__} must define iter_next(self) or next(self)")

    def getdata(self) -> Any:
        """The data arrays of the batch."""
        raise NotImplementedError(f"{type(self).__name__} must define getdata(self) or next(self)")

    def getlabel(self) -> Any:
        """The label arrays of the batch."""
        return None

    def getindex(self) -> Any:
        """The numbers of the samples of the batch, if they are known."""
        return None

    def getpad(self) -> int | None:
        """How many samples at the end only fill the batch up."""
        return None
