"""The data sets of MXNet's examples, from local files, or fetched when they are not there (`mx.test_utils`)."""

from __future__ import annotations

import bz2
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from autohybrid.gluon.data.vision.idx_files import read_idx
from autohybrid.gluon.utils import downloads
from autohybrid.training.io import MNISTIter

__all__ = [
    "download", "get_bz2_data", "get_cifar10", "get_mnist", "get_mnist_iterator", "get_mnist_pkl", "get_mnist_ubyte",
    "get_zip_data",
]  # fmt: skip

_HOST = "http://data.mxnet.io"
_MNIST = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
_CIFAR = ("train.rec", "test.rec", "train.lst", "test.lst")


def download(
    url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False, retries: int = 5
) -> str:
    """Fetch a file to `dirname`/`fname` (by default the address's last part), unless it is there; gives the path."""
    target = Path(dirname or "") / (fname or url.split("/")[-1])
    if target.parent != Path():
        target.parent.mkdir(parents=True, exist_ok=True)
    if overwrite or not target.exists():
        downloads.download(url, path=str(target), overwrite=overwrite, retries=max(retries, 1))
    return str(target)


def get_mnist() -> dict[str, np.ndarray[Any, Any]]:
    """MNIST from gzipped files in this folder: `train_data`, `test_data` (N, 1, 28, 28) in float32 from 0 to 1, and
    `train_label`, `test_label` in int8."""
    found = {}
    for part, names in _MNIST.items():
        image, label = (
            read_idx(Path(download(f"{_HOST}/data/mnist/{name}.gz")), axes) for name, axes in zip(names, (3, 1))
        )
        found[f"{part}_data"] = image.reshape(len(image), 1, 28, 28).astype(np.float32) / 255
        found[f"{part}_label"] = label.astype(np.int8)
    return found


def get_mnist_pkl() -> None:
    """Fetch `data/mnist.pkl.gz`, unless it is there."""
    download("http://deeplearning.net/data/mnist/mnist.pkl.gz", dirname="data")


def get_mnist_ubyte() -> None:
    """Fetch MNIST's four files to the folder `data`, unless they are there."""
    _unpack_unless(
        [Path("data") / name for names in _MNIST.values() for name in names], f"{_HOST}/mxnet/data/mnist.zip"
    )


def get_cifar10() -> None:
    """Fetch CIFAR-10's record and list files to the folder `data/cifar`, unless they are there."""
    _unpack_unless([Path("data", "cifar", name) for name in _CIFAR], f"{_HOST}/mxnet/data/cifar10.zip")


def _unpack_unless(files: list[Path], url: str) -> None:
    Path("data").mkdir(exist_ok=True)
    if not all(file.exists() for file in files):
        with zipfile.ZipFile(download(url, dirname="data")) as archive:
            archive.extractall("data")


def get_mnist_iterator(
    batch_size: int, input_shape: tuple[int, ...], num_parts: int = 1, part_index: int = 0
) -> tuple[MNISTIter, MNISTIter]:
    """Iterators over MNIST's training and test images in the folder `data`, flat unless `input_shape` has 3 extents."""
    get_mnist_ubyte()
    train, test = (
        MNISTIter(
            image=os.path.join("data", image),
            label=os.path.join("data", label),
            batch_size=batch_size,
            flat=len(input_shape) != 3,
            num_parts=num_parts,
            part_index=part_index,
        )
        for image, label in _MNIST.values()
    )
    return train, test


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Fetch a zip archive to a folder and unpack it there, unless it is there."""
    archive = Path(data_dir) / data_origin_name
    if not archive.exists():
        download(url, dirname=data_dir)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Fetch a bz2 file to a folder and write it unpacked to `data_name` there, unless that is there."""
    target = Path(data_dir) / data_name
    if not target.exists():
        packed = Path(download(url, fname=data_origin_name, dirname=data_dir))
        target.write_bytes(bz2.decompress(packed.read_bytes()))
        packed.unlink()
