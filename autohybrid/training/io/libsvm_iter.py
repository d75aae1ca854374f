"""LibSVMIter: batches of sparse rows from text files in LibSVM's format."""

from __future__ import annotations

from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter

Host = np.ndarray[Any, Any]


class LibSVMIter(DataIter):
    """Lines `label index:value index:value ...` (indices from 0) as csr batches of `data_shape` columns.

    With `label_libsvm`, the labels are the rows of that file instead, csr as well (`label_shape` columns).
    `round_batch` fills the last batch up with the first rows, which the next round leaves out; otherwise the rows that
    are left over are not given. `num_parts` and `part_index` choose one of equal, contiguous parts. Raises MXNetError
    that names the line for another form or an index beyond the shape.
    """

    def __init__(
        self,
        data_libsvm: str,
        data_shape: Any,
        batch_size: int = 1,
        label_libsvm: str | None = None,
        label_shape: Any = (1,),
        num_parts: int = 1,
        part_index: int = 0,
        round_batch: bool = True,
        dtype: Any = "float32",
        data_name: str = "data",
        label_name: str = "softmax_label",
        **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        unknown = sorted(set(kwargs) - {"prefetch_buffer", "ctx"})
        if unknown:
            raise MXNetError(f"LibSVMIter does not know {', '.join(unknown)}")
        if not 0 <= part_index < num_parts:
            raise MXNetError(f"part_index is 0 to {num_parts - 1}, not {part_index}")
        self._data = _Rows(data_libsvm, _columns("data_shape", data_shape), dtype)
        self._targets = _Rows(label_libsvm, _columns("label_shape", label_shape), dtype) if label_libsvm else None
        if self._targets is not None and len(self._targets) != len(self._data):
            raise MXNetError(f"{data_libsvm} has {len(self._data)} lines, but {label_libsvm} {len(self._targets)}")
        share = -(-len(self._data) // num_parts)
        self._rows = np.arange(len(self._data))[share * part_index : share * (part_index + 1)]
        self._rounds = round_batch
        wide = (batch_size, self._targets.columns) if self._targets is not None else (batch_size,)
        self.provide_data = [DataDesc(data_name, (batch_size, self._data.columns), np.dtype(dtype).type)]
        self.provide_label = [DataDesc(label_name, wide, np.dtype(dtype).type)]
        self._skip = 0
        self.reset()

    def reset(self) -> None:
        """Start again, behind the rows that filled up the last batch."""
        self._at = self._skip
        self._skip = 0

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end."""
        chosen = self._rows[self._at : self._at + self.batch_size]
        pad = self.batch_size - len(chosen)
        if not len(chosen) or (pad and not self._rounds):
            raise StopIteration
        self._at += self.batch_size
        if pad:
            self._skip = pad % len(self._rows)
            chosen = np.concatenate([chosen, np.resize(self._rows, pad)])
        label = nd.array(self._data.labels[chosen]) if self._targets is None else self._targets.batch(chosen)
        return DataBatch([self._data.batch(chosen)], [label], pad=pad)


def _columns(name: str, shape: Any) -> int:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if len(extents) != 1:
        raise MXNetError(f"{name} is (columns,), not {extents}")
    return int(extents[0])


class _Rows:
    """The lines of a file: first numbers, column indices and values."""

    def __init__(self, path: str, columns: int, dtype: Any) -> None:
        self.columns, self._dtype = columns, dtype
        labels: list[float] = []
        self._indices: list[Host] = []
        self._values: list[Host] = []
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                words = line.split()
                if not words:
                    continue
                first = [] if ":" in words[0] else words[:1]
                try:
                    labels.append(float(first[0]) if first else 0.0)
                    pairs = [word.split(":") for word in words[len(first) :]]
                    self._indices.append(np.array([int(i) for i, _ in pairs], np.int64))
                    self._values.append(np.array([float(v) for _, v in pairs], dtype))
                except ValueError as error:
                    raise MXNetError(f"{path}:{number} is not `label index:value ...`: {error}") from error
                if self._indices[-1].max(initial=-1) >= columns:
                    raise MXNetError(f"{path}:{number} has an index beyond the {columns} columns")
        self.labels = np.array(labels, "float32")

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: Host) -> Any:
        """These rows as a csr array."""
        indices = [self._indices[row] for row in rows]
        ends = np.cumsum([0, *(len(found) for found in indices)])
        values = np.concatenate([self._values[row] for row in rows])
        shape = (len(rows), self.columns)
        return nd.sparse.csr_matrix((values, np.concatenate(indices), ends), shape=shape, dtype=self._dtype)
