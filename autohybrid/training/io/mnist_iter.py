"""MNISTIter: batches from the IDX files of MNIST."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid.errors import MXNetError
from autohybrid.gluon.data.vision.idx_files import read_idx
from autohybrid.training.io.array_iter import NDArrayIter


class MNISTIter(NDArrayIter):
    """Images of IDX files (gzipped or not) as float32 in [0, 1): (N, 1, 28, 28), or (N, 784) with `flat`.

    An incomplete last batch is left out. `shuffle` draws one order by `seed`, which every round keeps; it is not
    MXNet's order for that seed. `num_parts` and `part_index` choose one of equal, contiguous parts. `silent`,
    `input_flat`, `prefetch_buffer` and `ctx` change nothing. Raises MXNetError for files of another kind.
    """

    def __init__(
        self,
        image: str = "./train-images-idx3-ubyte",
        label: str = "./train-labels-idx1-ubyte",
        batch_size: int = 128,
        shuffle: bool = True,
        flat: bool = False,
        seed: int = 0,
        silent: bool = False,
        num_parts: int = 1,
        part_index: int = 0,
        input_flat: bool = False,
        data_shape: Any = None,
        prefetch_buffer: int = 4,
        ctx: str = "gpu",
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise MXNetError(f"MNISTIter does not know {', '.join(sorted(kwargs))}")
        try:
            images, labels = read_idx(Path(image), 3), read_idx(Path(label), 1)
        except OSError as error:
            raise MXNetError(f"cannot read {error.filename}: {error.strerror}") from error
        if len(images) != len(labels):
            raise MXNetError(f"{image} holds {len(images)} images, but {label} {len(labels)} labels")
        order = np.random.RandomState(seed).permutation(len(images)) if shuffle else np.arange(len(images))
        share = len(order) // num_parts
        mine = order[share * part_index : share * (part_index + 1)]
        if len(mine) < batch_size:
            raise MXNetError(f"batch_size is {batch_size}, but there are {len(mine)} images")
        shape = (len(mine), -1) if flat else (len(mine), 1, *images.shape[1:])
        data = nd.array(images[mine].reshape(shape).astype(np.float32) / 256)
        super().__init__(data, nd.array(labels[mine].astype(np.float32)), batch_size, last_batch_handle="discard")
