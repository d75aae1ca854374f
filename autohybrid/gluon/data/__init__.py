"""`gluon.data`: datasets, samplers and the DataLoader; `vision` holds datasets of images and their transforms."""

from __future__ import annotations

import importlib
from typing import Any

from autohybrid.gluon.data import dataloader, dataset, sampler
from autohybrid.gluon.data.dataloader import DataLoader
from autohybrid.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from autohybrid.gluon.data.sampler import BatchSampler, FilterSampler, RandomSampler, Sampler, SequentialSampler

__all__ = [
    "ArrayDataset", "BatchSampler", "DataLoader", "Dataset", "FilterSampler", "RandomSampler", "RecordFileDataset",
    "Sampler", "SequentialSampler", "SimpleDataset", "dataloader", "dataset", "sampler", "vision",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name != "vision":
        raise AttributeError(f"module 'autohybrid.gluon.data' has no attribute '{name}'")
    return importlib.import_module("autohybrid.gluon.data.vision")
