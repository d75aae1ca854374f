"""`gluon.data.vision`: datasets of images, and transforms of images."""

from __future__ import annotations

from autohybrid.gluon.data.vision import datasets, transforms
from autohybrid.gluon.data.vision.datasets import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageRecordDataset,
)

__all__ = [
    "CIFAR10", "CIFAR100", "MNIST", "FashionMNIST", "ImageFolderDataset", "ImageRecordDataset", "datasets",
    "transforms",
]  # fmt: skip
