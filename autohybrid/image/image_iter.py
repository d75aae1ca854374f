"""ImageIter: batches of images from record files, lists of files, or lists in memory."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.image.augmenter_list import CreateAugmenter
from autohybrid.image.image_list import read_image_list, take_image_list
from autohybrid.image.reading import imdecode
from autohybrid.ndarray import NDArray
from autohybrid.training import recordio
from autohybrid.training.io import DataBatch, DataIter

_LABEL_DTYPES = ("int32", "float32", "int64", "float64")
_logger = logging.getLogger("autohybrid")


class ImageIter(DataIter):
    """Batches of images (batch, channels, height, width) in float32, decoded and augmented one by one.

    The images come from a record file (`path_imgrec`, with `path_imgidx` to shuffle or to take a part), a list file
    (`path_imglist`: index, labels, path, separated by tabs) or a list in memory (`imglist`: labels, path); paths are
    below `path_root`. `last_batch_handle`: 'pad' fills the last batch up from the start, 'discard' drops it,
    'roll_over' keeps it for the next epoch. Other keywords are CreateAugmenter's, unless `aug_list` is given.
    Images that cannot be decoded raise RuntimeError naming the file or record.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple[int, int, int],
        label_width: int = 1,
        path_imgrec: str | None = None,
        path_imglist: str | None = None,
        path_root: str | None = None,
        path_imgidx: str | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[Any] | None = None,
        imglist: list[Any] | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise AssertionError("ImageIter needs path_imgrec, path_imglist or imglist")
        if dtype not in _LABEL_DTYPES:
            raise AssertionError(f"labels of {dtype} are not supported; dtype is one of {', '.join(_LABEL_DTYPES)}")
        self.check_data_shape(data_shape)
        self.imgrec, self.imgidx = _open_records(path_imgrec, path_imgidx)
        self.imglist: dict[Any, tuple[NDArray, str]] | None = None
        if path_imglist:
            self.imglist = read_image_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            self.imglist = take_image_list(imglist, dtype)
        self.path_root = path_root
        self.provide_data: list[Any] = [(data_name, (batch_size, *data_shape))]
        self.provide_label: list[Any] = [(label_name, (batch_size, label_width) if label_width > 1 else (batch_size,))]
        self.batch_size = batch_size
        self.data_shape = data_shape
        self.label_width = label_width
        self.shuffle = shuffle
        self.seq = self._choose_sequence(shuffle or num_parts > 1 or bool(path_imgidx), part_index, num_parts)
        self.auglist: Sequence[Any] = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.last_batch_handle = last_batch_handle
        self.num_image = None if self.seq is None else len(self.seq)
        self._kept: tuple[NDArray, NDArray, int] | None = None
        self._at_end = False
        self.cur = 0
        self.reset()

    def _choose_sequence(self, needs_keys: bool, part: int, parts: int) -> list[Any] | None:
        """The keys of the samples in their order; None reads the record file as it comes."""
        if self.imgrec is None:
            keys = list(self.imglist or ())
        elif not needs_keys:
            return None
        elif self.imgidx is None:
            raise AssertionError("shuffling or taking a part of a record file needs path_imgidx")
        else:
            keys = self.imgidx
        if parts > 1:
            if part >= parts:
                raise AssertionError(f"part_index must be less than num_parts ({parts}), not {part}")
            size = len(keys) // parts
            keys = keys[part * size : (part + 1) * size]
        return keys

    def reset(self) -> None:
        """Start again; what 'roll_over' kept opens the next epoch."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.last_batch_handle != "roll_over" or self._kept is None:
            self._rewind()

    def hard_reset(self) -> None:
        """Start again, and forget what 'roll_over' kept."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._kept = None

    def _rewind(self) -> None:
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0
        self._at_end = False

    def next_sample(self) -> tuple[Any, bytes]:
        """The label and the undecoded image of the next sample. Raises StopIteration at the end of the data."""
        if self._at_end:
            raise StopIteration
        if self.seq is None:
            return self._next_record()
        if self.cur >= len(self.seq):
            if self.last_batch_handle != "discard":
                self.cur = 0
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            assert self.imglist is not None
            label, name = self.imglist[key]
            return label, self.read_image(name)
        header, image = recordio.unpack(self.imgrec.read_idx(key))
        return (header.label if self.imglist is None else self.imglist[key][0]), image

    def _next_record(self) -> tuple[Any, bytes]:
        record = self.imgrec.read()
        if record is None:
            if self.last_batch_handle != "discard":
                self.imgrec.reset()
            raise StopIteration
        header, image = recordio.unpack(record)
        return header.label, image

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end."""
        if self._kept is not None:
            data, label, filled = self._kept
        else:
            data = nd.zeros((self.batch_size, *self.data_shape))
            label = self._empty_label()
            filled = self._batchify(data, label)
        pad = self.batch_size - filled
        if pad:
            if self.last_batch_handle == "discard":
                raise StopIteration
            if self.last_batch_handle == "roll_over" and self._kept is None:
                self._kept = data, label, filled
                raise StopIteration
            self._batchify(data, label, filled)
            if self.last_batch_handle == "pad":
                self._at_end = True
            else:
                self._kept = None
        return DataBatch([data], [label], pad=pad)

    def _empty_label(self) -> NDArray:
        return nd.zeros(self.provide_label[0][1])

    def _batchify(self, batch_data: NDArray, batch_label: NDArray, start: int = 0) -> int:
        """Fill the batch from `start` on; how far it got. Raises StopIteration when that is nowhere."""
        filled = start
        try:
            while filled < self.batch_size:
                label, encoded = self.next_sample()
                image = self.imdecode(encoded)
                try:
                    image, label = self._check(image, label)
                except RuntimeError as error:
                    _logger.debug("left out a sample: %s", error)
                    continue
                batch_data[filled] = self.postprocess_data(self._finish(image))
                self._put_label(batch_label, filled, label)
                filled += 1
        except StopIteration:
            if not filled:
                raise
        return filled

    def _check(self, image: NDArray, label: Any) -> tuple[NDArray, Any]:
        """The image and its label, if they are fit for use. A RuntimeError here leaves the sample out."""
        self.check_valid_image([image])
        return image, label

    def _finish(self, image: NDArray) -> NDArray:
        return self.augmentation_transform(image)  # type: ignore[no-any-return]

    def _put_label(self, batch_label: NDArray, position: int, label: Any) -> None:
        batch_label[position] = label

    def check_data_shape(self, data_shape: tuple[int, ...]) -> None:
        """Raises ValueError for a shape that is not (3, height, width)."""
        if len(data_shape) != 3:
            raise ValueError(f"data_shape must be (channels, height, width), not {data_shape}")
        if data_shape[0] != 3:
            raise ValueError(f"images have 3 channels here, not {data_shape[0]}")

    def check_valid_image(self, data: Any) -> None:
        """Raises RuntimeError for what is no image; such samples are left out."""
        if len(data[0].shape) == 0:
            raise RuntimeError("the image has no dimensions")

    def imdecode(self, s: bytes) -> NDArray:
        """The decoded image. Raises RuntimeError that names the file or the record if it is broken."""
        try:
            return imdecode(s)
        except (MXNetError, ValueError) as error:
            raise RuntimeError(f"Broken image {self._whereabouts()}, {error}") from error

    def _whereabouts(self) -> str:
        if self.seq is None:
            return f"index: {self.cur}"
        key = self.seq[(self.cur - 1) % len(self.seq)]
        return f"index: {key}" if self.imglist is None else f"filename: {self.imglist[key][1]}"

    def read_image(self, fname: str) -> bytes:
        """The bytes of an image file below `path_root`."""
        return (Path(self.path_root or "") / fname).read_bytes()

    def augmentation_transform(self, data: NDArray) -> Any:
        """The image after the augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """The image as it is put into the batch: channels first."""
        return nd.transpose(datum, axes=(2, 0, 1))  # type: ignore[no-any-return]


def _open_records(path: str | None, index_path: str | None) -> tuple[Any, list[Any] | None]:
    if not path:
        return None, None
    if not index_path:
        return recordio.MXRecordIO(path, "r"), None
    records = recordio.MXIndexedRecordIO(index_path, path, "r")
    return records, list(records.keys)
