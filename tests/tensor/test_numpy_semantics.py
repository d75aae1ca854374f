"""The switches of numpy mode, and the small modules that hand them out."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd


def test_scopes_nest_and_belong_to_the_thread() -> None:
    seen = []
    with mx.np_shape(True):
        with mx.np_shape(False):
            assert not mx.is_np_shape()
        assert mx.is_np_shape()
        thread = threading.Thread(target=lambda: seen.append(mx.is_np_shape()))
        thread.start()
        thread.join()
    assert seen == [False]
    assert not mx.is_np_shape()


def test_set_np_switches_the_process() -> None:
    seen = []
    mx.npx.set_np()
    try:
        thread = threading.Thread(target=lambda: seen.append((mx.is_np_shape(), mx.is_np_array())))
        thread.start()
        thread.join()
    finally:
        mx.npx.reset_np()
    assert seen == [(True, True)]
    with pytest.raises(ValueError, match="NumPy shapes"):
        mx.util.set_np(shape=False, array=True)


def test_decorated_functions_and_classes_run_inside_the_scope() -> None:
    @mx.use_np
    class Reader:
        def method(self) -> bool:
            return mx.is_np_array()

        @staticmethod
        def static() -> bool:
            return mx.is_np_shape()

        @property
        def value(self) -> bool:
            return mx.is_np_array()

    assert Reader().method() and Reader.static() and Reader().value
    assert not mx.is_np_array()
    assert mx.use_np_shape(mx.is_np_shape)()


def test_scalars_and_empty_arrays_survive_a_file_of_np_arrays(tmp_path: Path) -> None:
    path = tmp_path / "x.params"
    arrays = {"scalar": mx.np.array(2.5), "empty": mx.np.array(np.zeros((0, 3))), "matrix": mx.np.array([[1, 2]])}
    mx.npx.save(path, arrays)
    found = mx.npx.load(path)
    assert {n: (a.shape, a.tolist()) for n, a in found.items()} == {n: (a.shape, a.tolist()) for n, a in arrays.items()}
    with pytest.raises(mx.MXNetError, match="numpy semantics"):
        nd.load(path)
    nd.save(path, nd.ones((2,)))
    assert mx.npx.load(path)[0].tolist() == [1, 1]
    with mx.np_shape(True), pytest.raises(mx.MXNetError, match="classic semantics"):
        nd.load(path)
    with pytest.raises(TypeError, match=r"npx\.save"):
        mx.npx.save(path, nd.ones((1,)))


def test_np_arrays_share_memory_with_classic_ones() -> None:
    x = nd.ones((2,))
    y = x.as_np_ndarray()
    x[0] = 5
    assert y.tolist() == [5, 1]
    y.as_nd_ndarray()[1] = 7
    assert x.asnumpy().tolist() == [5, 7]
    assert isinstance(nd.relu(y), mx.np.ndarray)


def test_small_modules_offer_what_code_imports() -> None:
    assert mx.base.mx_real_t is np.float32
    assert isinstance(np.float32(1), mx.base.numeric_types)
    assert isinstance(np.int64(1), mx.base.integer_types)
    assert mx.base._as_list(3) == [3]
    assert mx.base.py_str(b"a") == "a"
    assert mx.runtime.Features() is mx.runtime.Features()
    assert not mx.runtime.Features().is_enabled("cuda")
    with pytest.raises(RuntimeError, match="unknown"):
        mx.runtime.Features().is_enabled("magic")
    mx.util.setenv("AUTOHYBRID_TEST", "1")
    assert mx.util.getenv("AUTOHYBRID_TEST") == "1"
    mx.util.setenv("AUTOHYBRID_TEST", None)
    assert mx.util.getenv("AUTOHYBRID_TEST") is None
