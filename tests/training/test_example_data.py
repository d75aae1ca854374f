"""mx.test_utils: data sets of examples in local files, and the checks of symbols."""

from __future__ import annotations

import bz2
import gzip
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import test_utils

_IMAGES = np.random.RandomState(0).randint(0, 256, (6, 28, 28)).astype("uint8")
_LABELS = np.arange(6, dtype="uint8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """MNIST's files, gzipped in this folder and unpacked in `data`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for part in ("train", "t10k"):
        for name, head, values in (
            ("images-idx3-ubyte", struct.pack(">4I", 2051, 6, 28, 28), _IMAGES),
            ("labels-idx1-ubyte", struct.pack(">2I", 2049, 6), _LABELS),
        ):
            content = head + values.tobytes()
            (tmp_path / f"{part}-{name}.gz").write_bytes(gzip.compress(content))
            (tmp_path / "data" / f"{part}-{name}").write_bytes(content)
    return tmp_path


def test_mnist_is_read_from_files_that_are_there(here: Path) -> None:
    found = test_utils.get_mnist()
    assert sorted(found) == ["test_data", "test_label", "train_data", "train_label"]
    np.testing.assert_allclose(found["train_data"][:, 0], _IMAGES.astype("float32") / 255)
    assert found["test_label"].tolist() == _LABELS.tolist() and found["test_label"].dtype == np.int8


@pytest.mark.parametrize(("shape", "wanted"), [((1, 28, 28), (3, 1, 28, 28)), ((784,), (3, 784))])
def test_iterators_over_mnist(here: Path, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    for iterator in test_utils.get_mnist_iterator(3, shape):
        assert [batch.data[0].shape for batch in iterator] == [wanted] * 2


def test_archives_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def fetch(url: str, path: str, overwrite: bool, retries: int) -> None:
        fetched.append(url)
        if url.endswith(".bz2"):
            Path(path).write_bytes(bz2.compress(b"text"))
            return
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("train", "test"):
                for ending in ("rec", "lst"):
                    archive.writestr(f"cifar/{name}.{ending}", "x")

    monkeypatch.setattr("autohybrid.gluon.utils.downloads.download", fetch)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        test_utils.get_cifar10()
        test_utils.get_zip_data("more", "http://host/file.zip", "file.zip")
        test_utils.get_bz2_data("texts", "file", "http://host/file.bz2", "file.bz2")
    assert fetched == ["http://data.mxnet.io/mxnet/data/cifar10.zip", "http://host/file.zip", "http://host/file.bz2"]
    assert (tmp_path / "data" / "cifar" / "test.lst").exists() and (tmp_path / "more" / "cifar" / "train.rec").exists()
    assert (tmp_path / "texts" / "file").read_text() == "text"
    assert test_utils.download("http://host/a/b.txt", dirname="texts", fname="file") == str(Path("texts", "file"))


def test_one_batch_for_ever() -> None:
    iterator = test_utils.DummyIter(mx.io.NDArrayIter(np.arange(4.0), batch_size=2))
    assert [iterator.next().data[0].asnumpy().tolist() for _ in range(3)] == [[0, 1]] * 3


_PRODUCT = mx.sym.var("a") * mx.sym.tanh(mx.sym.var("b"))
_PLACES = {"a": np.array([[1.0, -2.0]]), "b": np.array([[0.3, 0.8]])}


def test_symbols_are_compared_with_what_is_expected() -> None:
    a, b = _PLACES["a"], np.tanh(_PLACES["b"])
    np.testing.assert_allclose(test_utils.simple_forward(_PRODUCT, **_PLACES), a * b, rtol=1e-5)
    test_utils.check_symbolic_forward(_PRODUCT, _PLACES, [a * b])
    test_utils.check_symbolic_backward(
        _PRODUCT, list(_PLACES.values()), [np.ones((1, 2))], {"a": b, "b": a * (1 - b**2)}
    )
    test_utils.check_numeric_gradient(_PRODUCT, _PLACES, numeric_eps=1e-2)
    with pytest.raises(AssertionError):
        test_utils.check_symbolic_forward(_PRODUCT, _PLACES, [a])
    with pytest.raises(AssertionError):
        test_utils.check_symbolic_backward(_PRODUCT, _PLACES, [np.ones((1, 2))], [a, a])
    with pytest.raises(ValueError, match=r"values for \['a'\], but the symbol has \['a', 'b'\]"):
        test_utils.check_symbolic_forward(_PRODUCT, {"a": a}, [a])


def test_a_wrong_gradient_differs_from_finite_differences() -> None:
    stopped = mx.sym.var("a") + mx.sym.stop_gradient(mx.sym.var("a") ** 2)
    with pytest.raises(AssertionError, match="NUMERICAL_a"):
        test_utils.check_numeric_gradient(stopped, {"a": np.array([1.0, 2.0])})


def test_batches_of_numpy_arrays_are_float32() -> None:
    for array in (np.zeros((4, 2)), np.arange(4), np.zeros(4, "uint8"), np.zeros(4, bool)):
        iterator = mx.io.NDArrayIter(array, batch_size=2)
        assert iterator.provide_data[0].dtype is np.float32 and next(iterator).data[0].dtype is np.float32
    kept, shuffled = (mx.io.NDArrayIter(mx.nd.zeros(4, dtype="int8"), batch_size=2, shuffle=s) for s in (False, True))
    assert (next(kept).data[0].dtype, next(shuffled).data[0].dtype) == (np.int8, np.float32)
