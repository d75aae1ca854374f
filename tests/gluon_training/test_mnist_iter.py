"""MNISTIter on small IDX files; the numbers are what MXNet's iterator gives for such files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.errors import MXNetError

IMAGES = np.random.RandomState(0).randint(0, 256, (10, 28, 28)).astype(np.uint8)
LABELS = np.arange(10, dtype=np.uint8)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "images").write_bytes(struct.pack(">4I", 2051, 10, 28, 28) + IMAGES.tobytes())
    (tmp_path / "labels").write_bytes(struct.pack(">2I", 2049, 10) + LABELS.tobytes())
    return {"image": str(tmp_path / "images"), "label": str(tmp_path / "labels")}


def test_whole_batches_of_scaled_images(files: dict[str, str]) -> None:
    made = mx.io.MNISTIter(**files, batch_size=4, shuffle=False)
    assert made.provide_data[0].shape == (4, 1, 28, 28)
    assert made.provide_label[0].name == "softmax_label"
    for _ in range(2):
        batches = list(made)
        assert [batch.label[0].asnumpy().tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        np.testing.assert_array_equal(batches[1].data[0].asnumpy()[:, 0], IMAGES[4:8].astype("float32") / 256)
        made.reset()
    flat = mx.io.MNISTIter(**files, batch_size=4, shuffle=False, flat=True, num_parts=2, part_index=1)
    batch = next(iter(flat))
    assert batch.data[0].shape == (4, 784)
    assert batch.label[0].asnumpy().tolist() == [5, 6, 7, 8]


def test_the_seed_decides_the_order(files: dict[str, str]) -> None:
    def labels(seed: int) -> list[float]:
        made = mx.io.MNISTIter(**files, batch_size=10, seed=seed)
        return list(next(iter(made)).label[0].asnumpy())

    assert labels(1) == labels(1) != labels(2)
    assert sorted(labels(1)) == list(range(10))


def test_what_cannot_be_read_is_said(files: dict[str, str]) -> None:
    with pytest.raises(MXNetError, match="cannot read absent"):
        mx.io.MNISTIter(image="absent", label=files["label"])
    with pytest.raises(MXNetError, match="is not an IDX file"):
        mx.io.MNISTIter(image=files["label"], label=files["label"])
    with pytest.raises(MXNetError, match="batch_size is 11"):
        mx.io.MNISTIter(**files, batch_size=11)
    with pytest.raises(MXNetError, match="does not know round_batch"):
        mx.io.MNISTIter(**files, round_batch=True)
