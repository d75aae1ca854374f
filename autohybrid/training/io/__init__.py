"""`mx.io`: iterators over batches, for Module."""

from __future__ import annotations

from autohybrid.training.io.array_iter import NDArrayIter
from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter
from autohybrid.training.io.csv_iter import CSVIter
from autohybrid.training.io.image_record_iter import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordUInt8Iter,
)
from autohybrid.training.io.libsvm_iter import LibSVMIter
from autohybrid.training.io.mnist_iter import MNISTIter
from autohybrid.training.io.wrapping import PrefetchingIter, ResizeIter

#: The older class of MXNet, which read the same files.
ImageRecordIter_v1 = ImageRecordIter

__all__ = [
    "CSVIter", "DataBatch", "DataDesc", "DataIter", "ImageRecordInt8Iter", "ImageRecordIter", "ImageRecordIter_v1",
    "ImageRecordUInt8Iter", "LibSVMIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter",
]  # fmt: skip
