"""Sentences as numbers, and an iterator that puts sentences of similar length into one batch."""

from __future__ import annotations

import bisect
import random
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.training.io import DataBatch, DataDesc, DataIter


def encode_sentences(
    sentences: Sequence[Sequence[str]],
    vocab: dict[str, int] | None = None,
    invalid_label: int = -1,
    invalid_key: str = "\n",
    start_label: int = 0,
    unknown_token: str | None = None,
) -> tuple[list[list[int]], dict[str, int]]:
    """Sentences with a number for each word, and the vocabulary: that given, or a new one counting from `start_label`.

    Raises AssertionError for a word that a given vocabulary does not have, unless there is an `unknown_token`.
    """
    is_new = vocab is None
    known = {invalid_key: invalid_label} if vocab is None else vocab
    free = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in known:
                if not is_new and not unknown_token:
                    raise AssertionError(f"the vocabulary does not have the word {word!r}; give an unknown_token")
                free += free == invalid_label
                word = unknown_token or word
                known[word] = free
                free += 1
            numbers.append(known[word])
        encoded.append(numbers)
    return encoded, known


class BucketSentenceIter(DataIter):
    """Batches of encoded sentences of one bucket each; the label is the sentence shifted by one.

    `buckets`: the lengths sentences are filled up to (with `invalid_label`); found from the data when not given.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[int]],
        batch_size: int,
        buckets: list[int] | None = None,
        invalid_label: int = -1,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: Any = "float32",
        layout: str = "NT",
    ) -> None:
        super().__init__(batch_size)
        if layout not in ("NT", "TN"):
            raise ValueError(f"layout must be 'NT' or 'TN', not {layout!r}")
        counts = np.bincount([len(sentence) for sentence in sentences])
        lengths = sorted(buckets or [length for length, count in enumerate(counts) if count >= batch_size])
        filled: dict[int, list[Any]] = {length: [] for length in lengths}
        dropped = 0
        for sentence in sentences:
            place = bisect.bisect_left(lengths, len(sentence))
            if place == len(lengths):
                dropped += 1
                continue
            row = np.full((lengths[place],), invalid_label, dtype=dtype)
            row[: len(sentence)] = sentence
            filled[lengths[place]].append(row)
        if dropped:
            warnings.warn(f"{dropped} sentences are longer than the largest bucket, and were left out", stacklevel=2)
        self.buckets = [length for length in lengths if filled[length]]
        self.data = [np.asarray(filled[length], dtype=dtype) for length in self.buckets]
        self.invalid_label = invalid_label
        self.data_name, self.label_name = data_name, label_name
        self.dtype = dtype
        self.layout = layout
        self.default_bucket_key = max(self.buckets)
        whole = (batch_size, self.default_bucket_key)
        shape = whole if layout == "NT" else whole[::-1]
        self.provide_data = [DataDesc(data_name, shape, layout=layout)]
        self.provide_label = [DataDesc(label_name, shape, layout=layout)]
        self.idx = [
            (bucket, start)
            for bucket, rows in enumerate(self.data)
            for start in range(0, len(rows) - batch_size + 1, batch_size)
        ]
        self.reset()

    def reset(self) -> None:
        self.curr_idx = 0
        random.shuffle(self.idx)
        for rows in self.data:
            np.random.shuffle(rows)

    def next(self) -> DataBatch:
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, start = self.idx[self.curr_idx]
        self.curr_idx += 1
        rows = self.data[bucket][start : start + self.batch_size]
        shifted = np.concatenate([rows[:, 1:], np.full((len(rows), 1), self.invalid_label, rows.dtype)], axis=1)
        data, label = (nd.array(a if self.layout == "NT" else a.T, dtype=self.dtype) for a in (rows, shifted))
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[bucket],
            provide_data=[DataDesc(self.data_name, data.shape, layout=self.layout)],
            provide_label=[DataDesc(self.label_name, label.shape, layout=self.layout)],
        )
