"""Datasets of images read from local files: MNIST, FashionMNIST, CIFAR10, CIFAR100, records and folders.

Files that are not there are fetched once, where there is a network.
"""

from __future__ import annotations

import os
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import numpy as mx_np
from autohybrid.base import data_dir
from autohybrid.errors import MXNetError
from autohybrid.gluon.data.dataset import Dataset, RecordFileDataset
from autohybrid.gluon.data.vision.idx_files import read_idx
from autohybrid.gluon.utils.downloads import download
from autohybrid.gluon.utils.repository import file_url
from autohybrid.numpy_semantics import is_np_array
from autohybrid.training.image_codec import decode_rgb
from autohybrid.training.recordio import unpack

__all__ = ["CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "ImageFolderDataset", "ImageRecordDataset"]

Transform = Callable[[Any, Any], Any]
Host = np.ndarray[Any, Any]


def _default_root(name: str) -> str:
    return os.path.join(data_dir(), "datasets", name)


def _array(values: Host) -> Any:
    make = mx_np.array if is_np_array() else nd.array
    return make(values, dtype=values.dtype)


class _FileDataset(Dataset):
    """Images (N, height, width, channels; uint8) and int32 labels, read whole from files in a folder."""

    def __init__(self, root: str, transform: Transform | None) -> None:
        self._transform = transform
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        images, labels = self._read()
        self._data = _array(images)
        self._label: Any = _array(labels) if is_np_array() else labels

    def _read(self) -> tuple[Host, Host]:
        raise NotImplementedError

    def __getitem__(self, idx: int) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)

    def __len__(self) -> int:
        return len(self._label)

    def _find(self, names: tuple[str, ...], collection: str, fetched: str, sha1: str) -> Path:
        """The first of `names` that is in the folder; else `fetched`, downloaded."""
        for name in names:
            path = Path(self._root) / name
            if path.exists():
                return path
        try:
            address = file_url(f"gluon/dataset/{collection}", fetched)
            return Path(download(address, path=self._root, sha1_hash=sha1))
        except OSError as error:
            raise MXNetError(
                f"{type(self).__name__}: none of {', '.join(names)} is in {self._root}, and fetching failed ({error}); "
                "put one of these files there"
            ) from error


class MNIST(_FileDataset):
    """Handwritten digits: samples (28, 28, 1) uint8 with labels 0 to 9, from the four IDX files in `root`."""

    _collection: ClassVar[str] = "mnist"
    #: SHA-1 of the images and labels for training, then for testing.
    _hashes: ClassVar[tuple[str, ...]] = (
        "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d",
        "2a80914081dc54586dbdf242f9805a6b8d2a15fc",
        "c3a25af1f52dad7f726cce8cacb138654b760d48",
        "763e7fa3757d93b0cdec073cef058b2004252c17",
    )

    def __init__(self, root: str | None = None, train: bool = True, transform: Transform | None = None) -> None:
        self._train = train
        super().__init__(root or _default_root(self._collection), transform)

    def _read(self) -> tuple[Host, Host]:
        part = "train" if self._train else "t10k"
        images = read_idx(self._idx_file(f"{part}-images-idx3-ubyte", 0), 3)
        labels = read_idx(self._idx_file(f"{part}-labels-idx1-ubyte", 1), 1)
        if len(images) != len(labels):
            raise MXNetError(f"{self._root} holds {len(images)} images, but {len(labels)} labels")
        return images[..., None], labels.astype(np.int32)

    def _idx_file(self, name: str, which: int) -> Path:
        sha1 = self._hashes[which if self._train else which + 2]
        return self._find((f"{name}.gz", name), self._collection, f"{name}.gz", sha1)


class FashionMNIST(MNIST):
    """Pictures of clothes, in the format of MNIST."""

    _collection = "fashion-mnist"
    _hashes = (
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    )


class CIFAR10(_FileDataset):
    """Small photographs in ten classes: samples (32, 32, 3) uint8, from the binary files in `root`."""

    _collection: ClassVar[str] = "cifar10"
    _archive: ClassVar[tuple[str, str]] = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
    _files: ClassVar[dict[bool, tuple[str, ...]]] = {
        True: tuple(f"data_batch_{number}.bin" for number in range(1, 6)),
        False: ("test_batch.bin",),
    }
    _label_bytes: ClassVar[int] = 1

    def __init__(self, root: str | None = None, train: bool = True, transform: Transform | None = None) -> None:
        self._train = train
        super().__init__(root or _default_root(self._collection), transform)

    def _label_column(self) -> int:
        return 0

    def _read(self) -> tuple[Host, Host]:
        names = self._files[self._train]
        folder = Path(self._root)
        if not all((folder / name).exists() for name in names):
            archive = self._find((self._archive[0],), self._collection, *self._archive)
            with tarfile.open(archive) as tar:
                tar.extractall(self._root, filter="data")
        records = np.concatenate([self._records(folder / name) for name in names])
        images = records[:, self._label_bytes :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(images), records[:, self._label_column()].astype(np.int32)

    def _records(self, path: Path) -> Host:
        raw = np.fromfile(path, np.uint8)
        width = self._label_bytes + 3 * 32 * 32
        if raw.size == 0 or raw.size % width:
            raise MXNetError(f"{path} is not made of records of {width} bytes")
        return raw.reshape(-1, width)


class CIFAR100(CIFAR10):
    """Small photographs in 100 classes (`fine_label=True`) or 20 groups of classes."""

    _collection = "cifar100"
    _archive = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
    _files = {True: ("train.bin",), False: ("test.bin",)}
    _label_bytes = 2

    def __init__(
        self,
        root: str | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Transform | None = None,
    ) -> None:
        self._fine_label = fine_label
        super().__init__(root, train, transform)

    def _label_column(self) -> int:
        return int(self._fine_label)


class ImageRecordDataset(RecordFileDataset):
    """Images and labels from a record file; `flag` 1 gives colour (RGB), 0 grey."""

    def __init__(self, filename: str, flag: int = 1, transform: Transform | None = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        header, image = unpack(super().__getitem__(idx))
        sample = _array(decode_rgb(image, self._flag)), header.label
        return sample if self._transform is None else self._transform(*sample)


class ImageFolderDataset(Dataset):
    """Images in one folder for each class: `root/<class>/<image>`. The label is the number of the folder, sorted.

    `synsets` holds the class names, `items` (path, label) of each sample.
    """

    _extensions: ClassVar[tuple[str, ...]] = (".jpg", ".jpeg", ".png")

    def __init__(self, root: str, flag: int = 1, transform: Transform | None = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        for folder in sorted(os.listdir(self._root)):
            self._add_folder(folder)

    def _add_folder(self, folder: str) -> None:
        path = os.path.join(self._root, folder)
        if not os.path.isdir(path):
            warnings.warn(f"{path} is not a folder, and was left out", stacklevel=4)
            return
        for name in sorted(os.listdir(path)):
            if os.path.splitext(name)[1].lower() in self._extensions:
                self.items.append((os.path.join(path, name), len(self.synsets)))
            else:
                warnings.warn(
                    f"{os.path.join(path, name)} is not an image ({', '.join(self._extensions)}), and was left out",
                    stacklevel=4,
                )
        self.synsets.append(folder)

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        image = _array(decode_rgb(Path(path).read_bytes(), self._flag))
        return (image, label) if self._transform is None else self._transform(image, label)

    def __len__(self) -> int:
        return len(self.items)
