"""ImageRecordIter: batches of images from record files, as the training scripts of MXNet's time read them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.config import closest
from autohybrid.errors import MXNetError
from autohybrid.training import recordio
from autohybrid.training.image_codec import decode_rgb
from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter
from autohybrid.training.io.record_augmentation import Augmentation, Pixels

#: Settings of MXNet's threads and devices: they change nothing here.
_WITHOUT_EFFECT = frozenset(
    ("aug_seq", "preprocess_threads", "verbose", "device_id", "shuffle_chunk_size", "shuffle_chunk_seed")
    + ("prefetch_buffer", "ctx", "std_a", "mean_a", "seed_aug")
)
#: Changes of colour that are not there; 0 is no change.
_ABSENT = ("random_h", "random_s", "random_l", "max_random_contrast", "max_random_illumination")


class ImageRecordIter(DataIter):
    """Images of a record file in batches (batch, channels, height, width), with their labels.

    Each image is decoded, resized, cut and changed (see Augmentation for the settings and their defaults), mirrored,
    and normalized: `(pixel - mean) * scale / std`, the means and deviations by channel r, g, b. `path_imglist` replaces
    labels by index. `round_batch` fills the last batch up with the first images, which the next round leaves out;
    otherwise it is filled with zeros. In either case `pad` says with how many. `num_parts` and `part_index` choose a
    part of the file. Raises MXNetError for settings that are not there.
    """

    _dtype: ClassVar[str] = "float32"

    def __init__(
        self,
        path_imgrec: str,
        data_shape: tuple[int, int, int],
        batch_size: int,
        path_imglist: str = "",
        path_imgidx: str = "",
        label_width: int = 1,
        shuffle: bool = False,
        seed: int = 0,
        num_parts: int = 1,
        part_index: int = 0,
        round_batch: bool = True,
        mirror: bool = False,
        rand_mirror: bool = False,
        mean_img: str = "",
        mean_r: float = 0.0,
        mean_g: float = 0.0,
        mean_b: float = 0.0,
        std_r: float = 1.0,
        std_g: float = 1.0,
        std_b: float = 1.0,
        scale: float = 1.0,
        dtype: str | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        **kwargs: Any,
    ) -> None:
        super().__init__(batch_size)
        self._augmentation = _augmentation(type(self).__name__, tuple(data_shape), kwargs)
        channels = data_shape[0]
        if channels not in (1, 3):
            raise MXNetError(f"data_shape is (1 or 3, height, width), not {tuple(data_shape)}")
        self._result = np.dtype(dtype or self._dtype)
        self._label_width = label_width
        self._labels = _read_labels(path_imglist, label_width) if path_imglist else None
        self._reader = recordio.MXRecordIO(path_imgrec, "r")
        self._positions = _positions(path_imgrec, path_imgidx, num_parts, part_index)
        if not self._positions:
            raise MXNetError(f"{path_imgrec} has no records for part {part_index} of {num_parts}")
        self._random = np.random.RandomState(seed)
        self._shuffles, self._rounds, self._mirror, self._rand_mirror = shuffle, round_batch, mirror, rand_mirror
        self._mean = _mean(mean_img, (mean_r, mean_g, mean_b)[:channels])
        self._deviation = np.array((std_r, std_g, std_b)[:channels], "float32").reshape(-1, 1, 1)
        self._scale = scale
        labels = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_data = [DataDesc(data_name, (batch_size, *data_shape), self._result.type)]
        self.provide_label = [DataDesc(label_name, labels, np.float32)]
        self._skip = 0
        self._at = 0
        self._order = np.arange(len(self._positions))
        self.reset()

    def reset(self) -> None:
        """Start again, behind the images that filled up the last batch."""
        self._at = self._skip
        self._skip = 0
        if self._shuffles:
            self._random.shuffle(self._order)

    def next(self) -> DataBatch:
        """The next batch. Raises StopIteration at the end."""
        count = len(self._positions)
        if self._at >= count:
            raise StopIteration
        chosen = list(range(self._at, min(self._at + self.batch_size, count)))
        self._at += self.batch_size
        pad = self.batch_size - len(chosen)
        if pad and self._rounds:
            self._skip = pad % count
            chosen += [i % count for i in range(pad)]
        data = np.zeros(self.provide_data[0].shape, self._result)
        labels = np.zeros((self.batch_size, self._label_width), "float32")
        for position, number in enumerate(chosen):
            data[position], labels[position] = self._sample(self._positions[self._order[number]])
        label = nd.array(labels.reshape(self.provide_label[0].shape))
        return DataBatch([nd.array(data, dtype=self._result)], [label], pad=pad, index=None)

    def _sample(self, position: int) -> tuple[Pixels, Any]:
        header, encoded = recordio.unpack(self._reader.read_at(position))
        pixels = decode_rgb(encoded, 1 if self._augmentation.data_shape[0] == 3 else 0)
        image = self._augmentation.apply(pixels, self._random)
        if self._mirror or (self._rand_mirror and self._random.rand() < 0.5):
            image = image[:, ::-1]
        return self._normalized(image.transpose(2, 0, 1)), self._label(header)

    def _normalized(self, image: Pixels) -> Pixels:
        if self._result.kind == "u":
            return image
        if self._result == np.int8:
            return (image.astype("int16") - 128).astype("int8")
        values: Pixels = (image.astype("float32") - self._mean) * np.float32(self._scale) / self._deviation
        return values

    def _label(self, header: recordio.IRHeader) -> Any:
        if self._labels is not None:
            if header.id not in self._labels:
                raise MXNetError(f"the image with the index {header.id} is not in the list")
            return self._labels[header.id]
        values = np.atleast_1d(np.asarray(header.label, "float32"))
        if values.size != self._label_width:
            raise MXNetError(f"label_width is {self._label_width}, but a record has {values.size} labels")
        return values


class ImageRecordUInt8Iter(ImageRecordIter):
    """ImageRecordIter in uint8, without normalization."""

    _dtype = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """ImageRecordIter in int8: 128 is taken off, nothing else."""

    _dtype = "int8"


def _augmentation(kind: str, data_shape: Any, settings: dict[str, Any]) -> Augmentation:
    absent = [name for name in _ABSENT if settings.pop(name, 0)]
    if absent:
        raise MXNetError(
            f"{kind} has no {', '.join(absent)}; use brightness, contrast and saturation, or image.ImageIter with the "
            "augmenters of mx.image"
        )
    known = {field.name for field in fields(Augmentation)}
    taken = {name: value for name, value in settings.items() if name in known}
    for name in set(settings) - known - _WITHOUT_EFFECT:
        raise MXNetError(f"{kind} does not know `{name}`{closest(name, sorted(known | _WITHOUT_EFFECT))}")
    return Augmentation(data_shape=data_shape, **taken)


def _mean(path: str, channels: tuple[float, ...]) -> Any:
    if path and Path(path).exists():
        return next(iter(nd.load(path).values())).asnumpy()
    if path and not any(channels):
        raise MXNetError(f"there is no file {path} with a mean image; give mean_r, mean_g and mean_b")
    return np.array(channels, "float32").reshape(-1, 1, 1)


def _read_labels(path: str, width: int) -> dict[int, Pixels]:
    labels = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        parts = line.split("\t")
        if len(parts) < width + 1:
            raise MXNetError(f"{path}:{number} is not an index and {width} labels, separated by tabs")
        labels[int(parts[0])] = np.array(parts[1 : width + 1], "float32")
    return labels


def _positions(path: str, index_path: str, parts: int, part: int) -> list[int]:
    """The records of one part: by number with an index file, else those that begin in its share of the bytes."""
    if not 0 <= part < parts:
        raise MXNetError(f"part_index is 0 to {parts - 1}, not {part}")
    if index_path:
        reader = recordio.MXIndexedRecordIO(index_path, path, "r")
        share = -(-len(reader.keys) // parts)
        return [reader.idx[key] for key in reader.keys[share * part : share * (part + 1)]]
    share = -(-Path(path).stat().st_size // parts)
    share += -share % 4
    return [position for position in recordio.record_positions(path) if share * part <= position < share * (part + 1)]
