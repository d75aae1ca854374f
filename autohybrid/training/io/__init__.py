"""`mx.io`: iterators over batches, for Module."""

from __future__ import annotations

from autohybrid.training.io.array_iter import NDArrayIter
from autohybrid.training.io.batches import DataBatch, DataDesc, DataIter
from autohybrid.training.io.csv_iter import CSVIter
from autohybrid.training.io.mnist_iter import MNISTIter
from autohybrid.training.io.wrapping import PrefetchingIter, ResizeIter

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "MNISTIter", "NDArrayIter", "PrefetchingIter", "ResizeIter"]
