"""ImageIter and ImageDetIter: sources, parts, the three ways to end, labels. Orders are those of MXNet 1.9.1.

The images are arrays in NumPy's file format, and so need no image library.
"""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import recordio
from autohybrid.errors import MXNetError
from autohybrid.image import image_iter


def _encoded(value: int) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.full((10, 12, 3), value, "uint8"))
    return stream.getvalue()


def _decode(data: bytes) -> Any:
    if not data:
        raise MXNetError("the bytes are not an image that can be decoded")
    return mx.nd.array(np.load(io.BytesIO(data)), dtype="uint8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seven images 0.npy to 6.npy of one colour each, in files, in a record file, and in list files."""
    monkeypatch.setattr(image_iter, "imdecode", _decode)
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "all.idx"), str(tmp_path / "all.rec"), "w")
    for i in range(7):
        (tmp_path / f"{i}.npy").write_bytes(_encoded(i))
        writer.write_idx(i, recordio.pack(recordio.IRHeader(0, float(i), i, 0), _encoded(i)))
    writer.close()
    (tmp_path / "all.lst").write_text("".join(f"{i + 10}\t{i * 1.5}\t{i}.npy\n" for i in range(7)))
    (tmp_path / "two.lst").write_text("".join(f"{i + 10}\t{i * 1.5}\t{i}\t{i}.npy\n" for i in range(7)))
    return tmp_path


def _epoch(iterator: Any) -> list[tuple[list[float], list[Any], int]]:
    """The colour of each image, the labels and the padding of each batch."""
    return [(b.data[0][:, 0, 0, 0].asnumpy().tolist(), b.label[0].asnumpy().tolist(), b.pad) for b in iterator]


def _make(folder: Path, **settings: Any) -> Any:
    paths = {name: str(folder / settings.pop(name)) for name in list(settings) if name.startswith("path_")}
    return mx.image.ImageIter(3, (3, 10, 12), **paths, **settings)


def test_a_record_file_is_read_in_its_order_and_padded(folder: Path) -> None:
    iterator = _make(folder, path_imgrec="all.rec")
    wanted = [([0, 1, 2], [0, 1, 2], 0), ([3, 4, 5], [3, 4, 5], 0), ([6, 0, 1], [6, 0, 1], 2)]
    assert _epoch(iterator) == wanted
    iterator.reset()
    assert _epoch(iterator) == wanted
    assert iterator.provide_data == [("data", (3, 3, 10, 12))]
    assert iterator.provide_label == [("softmax_label", (3,))]


def test_the_end_is_discarded_or_rolled_over(folder: Path) -> None:
    discard = _make(folder, path_imgrec="all.rec", last_batch_handle="discard")
    assert [labels for _, labels, _ in _epoch(discard)] == [[0, 1, 2], [3, 4, 5]]
    rolled = _make(folder, path_imgrec="all.rec", path_imgidx="all.idx", last_batch_handle="roll_over")
    assert [labels for _, labels, _ in _epoch(rolled)] == [[0, 1, 2], [3, 4, 5]]
    rolled.reset()
    assert next((labels, pad) for _, labels, pad in _epoch(rolled)) == ([6, 0, 1], 2)
    rolled.hard_reset()
    assert next(labels for _, labels, _ in _epoch(rolled)) == [0, 1, 2]


def test_parts_and_orders(folder: Path) -> None:
    part = _make(folder, path_imgrec="all.rec", path_imgidx="all.idx", num_parts=2, part_index=1)
    assert [labels for _, labels, _ in _epoch(part)] == [[3, 4, 5]]
    random.seed(3)
    shuffled = _make(folder, path_imgrec="all.rec", path_imgidx="all.idx", shuffle=True)
    assert [labels for _, labels, _ in _epoch(shuffled)] == [[0, 2, 3], [6, 5, 4], [1, 0, 2]]
    with pytest.raises(AssertionError, match="needs path_imgidx"):
        _make(folder, path_imgrec="all.rec", shuffle=True)
    with pytest.raises(AssertionError, match="part_index must be less than num_parts"):
        _make(folder, path_imgrec="all.rec", path_imgidx="all.idx", num_parts=2, part_index=2)


def test_lists_in_files_and_in_memory(folder: Path) -> None:
    listed = _make(folder, path_imglist="all.lst", path_root="")
    assert _epoch(listed)[1] == ([3, 4, 5], [4.5, 6, 7.5], 0)
    wide = _make(folder, path_imglist="two.lst", path_root="", label_width=2, dtype="int32")
    assert wide.provide_label == [("softmax_label", (3, 2))]
    assert _epoch(wide)[0][1] == [[0, 0], [1, 1], [3, 2]]
    given = [[1.0, "0.npy"], [[3.0], "2.npy"], [4, "4.npy"]]
    assert _epoch(_make(folder, imglist=given, path_root="")) == [([0, 2, 4], [1, 3, 4], 0)]
    many = [[1.0, 2, "0.npy"], [3, 4, "1.npy"], [5, 6, "2.npy"]]
    assert _epoch(_make(folder, imglist=many, path_root="", label_width=2))[0][1] == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(AssertionError, match="needs path_imgrec"):
        _make(folder)


def test_what_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "6.npy").write_bytes(b"")
    iterator = _make(folder, path_imglist="all.lst", path_root="")
    with pytest.raises(RuntimeError, match=r"Broken image filename: 6.npy"):
        _epoch(iterator)
    (folder / "bad.lst").write_text("10\t1\t0.npy\nfree text\n")
    with pytest.raises(MXNetError, match=r"bad.lst:2 is not"):
        _make(folder, path_imglist="bad.lst", path_root="")
    with pytest.raises(ValueError, match="3 channels"):
        mx.image.ImageIter(1, (1, 8, 8), imglist=[[0, "0.npy"]])


_OBJECTS = [
    [[2, 5, 0, 0.1, 0.1, 0.5, 0.6], "0.npy"],
    [[2, 5, 1, 0.1, 0.2, 0.5, 0.6, 2, 0.3, 0.3, 0.4, 0.4], "1.npy"],
    [[2, 5, 1, 0.1, 0.2, 0.05, 0.6, 2, 0.3, 0.3, 0.4, 0.4], "2.npy"],
    [[4, 5, 9, 9, 1, 0.1, 0.2, 0.5, 0.6, 2, 0.3, 0.3, 0.4, 0.4], "3.npy"],
]


def _objects(folder: Path, images: list[Any] = _OBJECTS, **settings: Any) -> Any:
    return mx.image.ImageDetIter(2, (3, 10, 12), imglist=images, path_root=str(folder), **settings)


def test_objects_fill_the_label_up_with_minus_one(folder: Path) -> None:
    iterator = _objects(folder)
    assert iterator.provide_label == [("label", (2, 2, 5))]
    first, second = (batch.label[0].asnumpy() for batch in iterator)
    np.testing.assert_allclose(first[0], [[0, 0.1, 0.1, 0.5, 0.6], [-1] * 5], rtol=1e-6)
    np.testing.assert_allclose(first[1], [[1, 0.1, 0.2, 0.5, 0.6], [2, 0.3, 0.3, 0.4, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(second[0], [[2, 0.3, 0.3, 0.4, 0.4], [-1] * 5], rtol=1e-6)


def test_labels_of_another_form_are_refused(folder: Path) -> None:
    for label, message in (
        ([2, 5, 1], "7 numbers"),
        ([2, 6, *range(9)], "objects of 6"),
        ([2, 5, 0] + [1] * 4, "area"),
    ):
        with pytest.raises(RuntimeError, match=message):
            _objects(folder, [[label, "0.npy"]])


def test_label_shapes_grow_together(folder: Path) -> None:
    small, large = _objects(folder, _OBJECTS[:1]), _objects(folder)
    assert small.sync_label_shape(large) is large
    assert small.label_shape == large.label_shape == (2, 5)
    assert [batch.label[0].shape for batch in small] == [(2, 2, 5)]
    large.reshape(data_shape=(3, 4, 4))
    assert large.provide_data == [("data", (2, 3, 4, 4))]
    with pytest.raises(ValueError, match="room for 2 objects"):
        large.reshape(label_shape=(1, 5))
    with pytest.raises(ValueError, match="5 numbers wide"):
        large.reshape(label_shape=(3, 6))
