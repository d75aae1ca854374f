"""Datasets, samplers, the DataLoader with its workers, local image files, and record files."""

from __future__ import annotations

import base64
import gzip
import json
import os
import struct
import time
from multiprocessing import TimeoutError as WorkerTimeoutError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import gluon, nd
from autohybrid.errors import MXNetError
from autohybrid.gluon.data.vision import transforms

_FOLDER = Path(__file__).parents[1] / "data" / "training"
_FACTS = json.loads((_FOLDER / "facts.json").read_text())


# -- datasets and samplers ---------------------------------------------------------------------------------------------
def test_datasets_are_transformed_filtered_and_cut_lazily() -> None:
    seen: list[int] = []
    data = gluon.data.SimpleDataset(list(range(10)))
    doubled = data.transform(lambda x: seen.append(x) or 2 * x)
    assert not seen
    assert doubled[3] == 6 and seen == [3]
    assert [doubled.filter(lambda x: x % 3 == 0)[i] for i in range(4)] == [0, 6, 12, 18]
    assert [[part[i] for i in range(len(part))] for part in (data.shard(3, k) for k in range(3))] == [
        [0, 1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
    ]
    assert len(data.take(99)) == 10 and len(data.take(4)) == 4
    assert [data.sample(gluon.data.SequentialSampler(2, 5))[i] for i in range(2)] == [5, 6]
    pairs = gluon.data.ArrayDataset(nd.arange(3), ["a", "b", "c"]).transform_first(lambda x: x + 1, lazy=False)
    assert pairs[2] == (3.0, "c")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: gluon.data.SimpleDataset([1]).shard(2, 2), AssertionError),
        (lambda: gluon.data.SimpleDataset([1]).sample([0]), TypeError),
        (lambda: gluon.data.ArrayDataset([1, 2], [1]), AssertionError),
        (lambda: gluon.data.DataLoader([1]), ValueError),
        (lambda: gluon.data.DataLoader([1], 1, shuffle=True, sampler=gluon.data.RandomSampler(1)), ValueError),
        (lambda: gluon.data.BatchSampler(gluon.data.RandomSampler(1), 1, "odd"), ValueError),
    ],
)
def test_what_has_no_meaning_is_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_orders_are_those_of_mxnet() -> None:
    recorded = _FACTS["samplers"]
    np.random.seed(3)
    assert list(gluon.data.RandomSampler(12)) == recorded["order"]
    rollover = gluon.data.BatchSampler(gluon.data.SequentialSampler(7), 3, "rollover")
    assert [[len(rollover), list(rollover)] for _ in range(3)] == recorded["rollover"]


@pytest.mark.parametrize("handling", ["pad", "discard", "roll_over"])
def test_array_iterators_give_the_recorded_batches(handling: str) -> None:
    data = {"b": np.arange(14).reshape(7, 2), "a": np.arange(7)}
    iterator = mx.io.NDArrayIter(data, np.arange(7) * 10, 3, last_batch_handle=handling)
    for wanted_round in _FACTS["samplers"]["iterations"][handling]:
        iterator.reset()
        found = [[b.pad, [x.asnumpy().ravel().tolist() for x in (*b.data, *b.label)]] for b in iterator]
        wanted = [[pad, [[float(v) for v in x["values"]] for x in (*d, *lb)]] for pad, d, lb in wanted_round]
        assert found == wanted


def test_iterators_around_iterators() -> None:
    base = mx.io.NDArrayIter(np.arange(6), batch_size=2)
    resized = mx.io.ResizeIter(base, 5)
    assert [b.data[0].asnumpy().tolist() for b in resized] == [[0, 1], [2, 3], [4, 5], [0, 1], [2, 3]]
    both = mx.io.PrefetchingIter(
        [mx.io.NDArrayIter(np.arange(4), batch_size=2), mx.io.NDArrayIter(np.arange(4) * 2, batch_size=2)],
        rename_data=[{"data": "x"}, {"data": "y"}],
    )
    for _ in range(2):
        assert [[d.asnumpy().tolist() for d in b.data] for b in both] == [[[0, 1], [0, 2]], [[2, 3], [4, 6]]]
        both.reset()
    assert [d.name for d in both.provide_data] == ["x", "y"]


# -- the loader --------------------------------------------------------------------------------------------------------
class _Squares(gluon.data.Dataset):
    def __init__(self, fail_at: int = -1, sleep: float = 0.0, die_at: int = -1) -> None:
        self.fail_at, self.sleep, self.die_at = fail_at, sleep, die_at

    def __len__(self) -> int:
        return 23

    def __getitem__(self, idx: int) -> Any:
        if idx == self.fail_at:
            raise KeyError(f"sample {idx}")
        if idx == self.die_at:
            os._exit(3)
        time.sleep(self.sleep)
        return nd.array([idx * idx]), idx


@pytest.mark.parametrize("settings", [{}, {"num_workers": 2}, {"num_workers": 3, "thread_pool": True}], ids=str)
def test_batches_come_whole_and_in_order(settings: dict[str, Any]) -> None:
    loader = gluon.data.DataLoader(_Squares(), batch_size=4, last_batch="keep", **settings)
    for _ in range(2):
        batches = list(loader)
        assert len(batches) == len(loader) == 6
        assert np.concatenate([b[0].asnumpy().ravel() for b in batches]).tolist() == [i * i for i in range(23)]
        assert np.concatenate([b[1].asnumpy() for b in batches]).tolist() == list(range(23))


def test_errors_of_workers_reach_the_caller_with_their_place() -> None:
    loader = gluon.data.DataLoader(_Squares(fail_at=9), batch_size=4, num_workers=2)
    with pytest.raises(KeyError, match="sample 9") as caught:
        list(loader)
    assert "__getitem__" in str(caught.value.__cause__)


def test_a_slow_worker_and_a_dead_one_are_told_apart() -> None:
    with pytest.raises(WorkerTimeoutError, match="raise `timeout`"):
        list(gluon.data.DataLoader(_Squares(sleep=5), batch_size=2, num_workers=1, timeout=0.2))
    with pytest.raises(RuntimeError, match=r"ended \(exit code 3\)"):
        list(gluon.data.DataLoader(_Squares(die_at=3), batch_size=2, num_workers=1))


class _Noise(gluon.data.Dataset):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, idx: int) -> Any:
        return np.random.rand() + float(nd.random.uniform(shape=(1,)).asscalar())


def test_workers_draw_different_numbers_that_repeat_with_the_seed() -> None:
    rounds = []
    for workers in (2, 3):
        np.random.seed(4)
        loader = gluon.data.DataLoader(_Noise(), batch_size=2, num_workers=workers)
        rounds.append([np.concatenate([b.asnumpy() for b in loader]).tolist() for _ in range(2)])
    assert rounds[0] == rounds[1]
    assert len({*rounds[0][0], *rounds[0][1]}) == 24


def test_pinned_memory_and_rounds_ahead() -> None:
    loader = gluon.data.DataLoader(np.arange(6), batch_size=2, pin_memory=True, auto_reload=True)
    for _ in range(2):
        assert [b.context for b in loader] == [mx.cpu_pinned(0)] * 3


# -- files -------------------------------------------------------------------------------------------------------------
def _write_idx(path: Path, values: np.ndarray[Any, Any], zipped: bool) -> None:
    head = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes((gzip.compress if zipped else bytes)(head + values.astype("uint8").tobytes()))


@pytest.mark.parametrize("zipped", [True, False])
def test_mnist_files(tmp_path: Path, zipped: bool) -> None:
    images, labels = np.random.RandomState(0).randint(0, 256, (5, 28, 28)), np.arange(5)
    suffix = ".gz" if zipped else ""
    _write_idx(tmp_path / f"train-images-idx3-ubyte{suffix}", images, zipped)
    _write_idx(tmp_path / f"train-labels-idx1-ubyte{suffix}", labels, zipped)
    data = gluon.data.vision.MNIST(str(tmp_path))
    image, label = data[3]
    assert len(data) == 5 and label == 3 and image.shape == (28, 28, 1) and image.dtype is np.uint8
    np.testing.assert_array_equal(image.asnumpy()[..., 0], images[3])
    _write_idx(tmp_path / f"train-labels-idx1-ubyte{suffix}", np.arange(4), zipped)
    with pytest.raises(MXNetError, match="5 images, but 4 labels"):
        gluon.data.vision.MNIST(str(tmp_path))
    (tmp_path / f"train-labels-idx1-ubyte{suffix}").write_bytes(b"\x1f\x8bnonsense" if zipped else b"nonsense")
    with pytest.raises(MXNetError, match=r"damaged|not an IDX file"):
        gluon.data.vision.MNIST(str(tmp_path))


def test_cifar_files(tmp_path: Path) -> None:
    draw = np.random.RandomState(1)
    pixels = draw.randint(0, 256, (2, 3, 32, 32)).astype("uint8")
    for number in range(1, 6):
        records = np.concatenate([np.array([[number], [9]], "uint8"), pixels.reshape(2, -1)], axis=1)
        records.tofile(tmp_path / f"data_batch_{number}.bin")
    data = gluon.data.vision.CIFAR10(str(tmp_path))
    assert len(data) == 10 and data[4][1] == 3
    np.testing.assert_array_equal(data[1][0].asnumpy(), pixels[1].transpose(1, 2, 0))
    fine = np.concatenate([np.array([[7, 70]], "uint8"), pixels[:1].reshape(1, -1)], axis=1)
    fine.tofile(tmp_path / "train.bin")
    assert gluon.data.vision.CIFAR100(str(tmp_path))[0][1] == 7
    assert gluon.data.vision.CIFAR100(str(tmp_path), fine_label=True)[0][1] == 70
    (tmp_path / "train.bin").write_bytes(b"short")
    with pytest.raises(MXNetError, match="not made of records"):
        gluon.data.vision.CIFAR100(str(tmp_path))


def test_record_files_are_those_of_mxnet(tmp_path: Path) -> None:
    payloads = [base64.b64decode(p) for p in _FACTS["files"]["payloads"]]
    reader = mx.recordio.MXIndexedRecordIO(str(_FOLDER / "sample.idx"), str(_FOLDER / "sample.rec"), "r")
    assert [reader.read_idx(key) for key in reader.keys] == payloads
    writer = mx.recordio.MXIndexedRecordIO(str(tmp_path / "o.idx"), str(tmp_path / "o.rec"), "w")
    for key, payload in zip(reader.keys, payloads):
        writer.write_idx(key, payload)
    writer.close()
    for suffix in ("rec", "idx"):
        assert (tmp_path / f"o.{suffix}").read_bytes() == (_FOLDER / f"sample.{suffix}").read_bytes()
    data = gluon.data.RecordFileDataset(str(tmp_path / "o.rec"))
    assert [data[i] for i in range(len(data))] == payloads
    assert len(list(gluon.data.DataLoader(data, 3, num_workers=2, batchify_fn=list))) == 3


def test_packed_headers_are_those_of_mxnet() -> None:
    number, vector = (base64.b64decode(p) for p in _FACTS["files"]["packed"])
    assert mx.recordio.pack((0, 2.5, 7, 1), b"body") == number
    assert mx.recordio.pack((0, [1.0, 2.0, 3.0], 8, 0), b"rest") == vector
    header, body = mx.recordio.unpack(vector)
    assert (header.flag, header.label.tolist(), header.id, body) == (3, [1, 2, 3], 8, b"rest")
    with pytest.raises(MXNetError, match="too short"):
        mx.recordio.unpack(vector[:20])


def test_damaged_record_files_are_refused(tmp_path: Path) -> None:
    whole = (_FOLDER / "sample.rec").read_bytes()
    for name, content, message in (("cut", whole[:-3], "ends within"), ("junk", b"abcd" + whole, "no record begins")):
        (tmp_path / name).write_bytes(content)
        reader = mx.recordio.MXRecordIO(str(tmp_path / name), "r")
        with pytest.raises(MXNetError, match=message):
            while reader.read() is not None:
                pass


def test_csv_files(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2,3,4\n5,6,7,8\n9,10,11,12\n")
    iterator = mx.io.CSVIter(data_csv=str(tmp_path / "x.csv"), data_shape=(2, 2), batch_size=2)
    assert [(b.data[0].shape, b.pad) for b in iterator] == [((2, 2, 2), 0), ((2, 2, 2), 1)]
    with pytest.raises(MXNetError, match="do not fit the shape"):
        mx.io.CSVIter(data_csv=str(tmp_path / "x.csv"), data_shape=(3,), batch_size=2)


# -- transforms --------------------------------------------------------------------------------------------------------
def test_transforms_joined_give_what_they_give_apart() -> None:
    image = nd.array(np.random.RandomState(2).randint(0, 256, (6, 8, 3)), dtype="uint8")
    steps = [transforms.CropResize(1, 1, 4, 4), transforms.ToTensor(), transforms.Normalize(0.5, 0.25)]
    joined = transforms.Compose(steps)(image)
    wanted = (image.asnumpy()[1:5, 1:5].transpose(2, 0, 1).astype("float32") / 255 - 0.5) / 0.25
    np.testing.assert_allclose(joined.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    assert transforms.Compose([transforms.Cast("float64")])(image).dtype is np.float64


def test_crops_and_rotations() -> None:
    image = nd.array(np.arange(5 * 7 * 1).reshape(5, 7, 1), dtype="uint8")
    centre = transforms.CenterCrop((3, 3))(image)
    np.testing.assert_array_equal(centre.asnumpy(), image.asnumpy()[1:4, 2:5])
    assert transforms.RandomResizedCrop((4, 3))(nd.zeros((9, 9, 3), dtype="uint8")).shape == (3, 4, 3)
    square = nd.array(np.arange(9).reshape(1, 3, 3), dtype="float32")
    np.testing.assert_allclose(
        transforms.Rotate(90)(square).asnumpy()[0], np.rot90(square.asnumpy()[0]), rtol=1e-4, atol=1e-4
    )
    with pytest.raises(TypeError, match="call it after ToTensor"):
        transforms.Rotate(10)(image)
    with pytest.raises(ValueError, match="lower, upper"):
        transforms.RandomRotation((5, 5))


def test_an_iterator_over_a_pool_of_the_caller() -> None:
    from multiprocessing.pool import ThreadPool

    from autohybrid.gluon.data.dataloader import _as_in_context, _MultiWorkerIter

    def make(samples: list[int], batchify: Any, dataset: Any) -> Any:
        return batchify([dataset[i] for i in samples])

    with ThreadPool(2) as pool:
        sampler = gluon.data.BatchSampler(gluon.data.SequentialSampler(5), 2)
        iterator = _MultiWorkerIter(pool, list, sampler, worker_fn=make, prefetch=2, dataset=[10, 11, 12, 13, 14])
        assert len(iterator) == 3 and list(iterator) == [[10, 11], [12, 13], [14]]
    moved = _as_in_context((nd.ones((1,)), 3), mx.cpu(1))
    assert moved[0].context == mx.cpu(1) and moved[1] == 3
