"""`nd.save` and `nd.load`: forms, errors, pickling, and what a killed process leaves behind."""

from __future__ import annotations

import copy
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd


def test_a_dict_comes_back_as_a_dict_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "x.params")
    nd.save(path, {"b": nd.array([1, 2], dtype="int32"), "a": nd.ones((2, 3))})
    found = nd.load(path)
    assert list(found) == ["b", "a"]
    assert found["b"].dtype == np.int32
    assert found["b"].asnumpy().tolist() == [1, 2]
    assert found["a"].shape == (2, 3)


@pytest.mark.parametrize(
    ("data", "count"), [([nd.ones((2,)), nd.zeros((1, 1))], 2), (nd.ones((3,)), 1), ({}, 0), ([], 0)]
)
def test_everything_else_comes_back_as_a_list(tmp_path: Path, data: Any, count: int) -> None:
    path = tmp_path / "x.params"
    nd.save(path, data)
    found = nd.load(path)
    assert isinstance(found, list)
    assert len(found) == count
    assert isinstance(nd.load_frombuffer(path.read_bytes()), list)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (3, ValueError),
        ((nd.ones(1),), ValueError),
        ({"a": 1}, TypeError),
        ({1: nd.ones(1)}, TypeError),
        ([1], TypeError),
    ],
)
def test_other_data_is_refused_before_anything_is_written(tmp_path: Path, data: Any, error: type[Exception]) -> None:
    path = tmp_path / "x.params"
    with pytest.raises(error, match="save accepts"):
        nd.save(str(path), data)
    assert not path.exists()


def test_missing_files_and_folders_raise_mxnet_error(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match=r"cannot read .*nowhere.*No such file"):
        nd.load(str(tmp_path / "nowhere"))
    with pytest.raises(mx.MXNetError, match=r"cannot write .*No such file"):
        nd.save(str(tmp_path / "nowhere" / "x"), nd.ones((1,)))
    with pytest.raises(TypeError, match="fname"):
        nd.load(3)
    with pytest.raises(TypeError, match="buf"):
        nd.load_frombuffer(3)


def test_a_view_is_saved_as_what_it_shows(tmp_path: Path) -> None:
    x = nd.array(np.arange(12).reshape(3, 4))
    nd.save(str(tmp_path / "x"), x[1:2])
    assert nd.load(str(tmp_path / "x"))[0].asnumpy().tolist() == [[4, 5, 6, 7]]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_duplicates_are_equal_and_independent(duplicate: Any) -> None:
    x = nd.array([[1, 2]], dtype="int8")
    y = duplicate(x)
    x[:] = 0
    assert y.dtype == np.int8
    assert y.asnumpy().tolist() == [[1, 2]]


def test_permissions_and_links_survive_a_save(tmp_path: Path) -> None:
    path, link = tmp_path / "x.params", tmp_path / "link.params"
    nd.save(path, nd.ones((1,)))
    path.chmod(0o640)
    link.symlink_to(path)
    nd.save(link, nd.zeros((1,)))
    assert link.is_symlink()
    assert nd.load(path)[0].asscalar() == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failing_save_keeps_the_old_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.params"
    nd.save(path, nd.ones((1,)))
    with pytest.raises(mx.MXNetError):
        nd.save(path, nd.array(np.zeros((1,), "complex64"), dtype="complex64"))
    assert nd.load(path)[0].asscalar() == 1
    assert os.listdir(tmp_path) == ["x.params"]


WRITER = """
import sys
from autohybrid import nd
arrays = [{f"w{i}": nd.full((40000,), value) for i in range(20)} for value in (1, 2)]
nd.save(sys.argv[1], arrays[0])
print("ready", flush=True)
while True:
    for data in reversed(arrays):
        nd.save(sys.argv[1], data)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills with SIGKILL")
def test_killing_a_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "x.params"
    rng = random.Random(3)
    for _ in range(6):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        found = nd.load(path)
        assert len(found) == 20
        assert {float(v) for array in found.values() for v in np.unique(array.asnumpy())} in ({1.0}, {2.0})
