"""Arrays on a second device: the same results, and no array meets one of the other side by accident.

The device is the strict double of `tests/device_double.py`, which refuses implicit ways to the host as CuPy does.
"""

from __future__ import annotations

import contextlib
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_double import DeviceArray, Transfers, namespace

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.tensor import backend

GPU = mx.gpu(0)


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = types.SimpleNamespace(synchronize=lambda: None)
    cuda = types.SimpleNamespace(
        Device=lambda number: contextlib.nullcontext(),
        get_current_stream=lambda: stream,
        runtime=types.SimpleNamespace(getDeviceCount=lambda: 1),
    )
    monkeypatch.setattr(namespace, "cuda", cuda, raising=False)
    monkeypatch.setattr(backend, "_cupy", lambda: namespace)


def numbered(*shape: int, ctx: Any = GPU) -> nd.NDArray:
    return nd.array(np.arange(int(np.prod(shape))).reshape(shape), ctx=ctx)


@pytest.mark.parametrize(
    "statement",
    [
        "r = x[0]", "r = x[:, 1]", "r = x[0, 1, 2]", "r = x[::-1, 1:]", "r = x[i]", "r = x[[1, 0], 1]",
        "r = x[..., None, 0]", "x[0] = 5; r = x", "x[:] = 2.5; r = x", "x[:, 1] = v; r = x",
        "x[0] = [1, 2, 3, 4]; r = x", "x[0] = v.asnumpy(); r = x", "x[i, 0] = 7; r = x", "x[[0, 1], 1] = v; r = x",
        "x[0][1] = 9; r = x", "x += 1; r = x", "x *= x; r = x", "r = x.reshape((4, 6))[1]", "r = x.astype('int32')",
        "r = x.copy()", "r = x.T", "r = x.sum()", "r = x[0] * v + 2", "r = nd.zeros((2,), ctx=x.context) + 1",
        "r = nd.arange(4, ctx=x.context) + v", "r = nd.ones_like(x)", "r = nd.concat(x, x, dim=1)",
        "r = x.expand_dims(0, inplace=True)", "r = x.broadcast_to((2, 2, 3, 4))", "r = x == 3",
        "r = nd.array(x, ctx=x.context)", "r = nd.full((2,), 3, ctx=x.context, dtype='int32')", "r = x.detach()",
        "x.slice_assign_scalar(1, (0,), (1,), (None,)); r = x", "r = x.argmax(axis=1)",
        "r = nd.empty((2,), ctx=x.context) * 0", "r = nd.split(x, num_outputs=3, axis=1)[1]",
        "r = nd.moveaxis(x, 0, 2)", "r = nd.contrib.isnan(x)",
    ],
)  # fmt: skip
def test_results_are_those_of_the_cpu_and_stay_on_the_device(statement: str) -> None:
    results = []
    for ctx in (GPU, mx.cpu()):
        names: dict[str, Any] = {"nd": nd, "np": np, "x": numbered(2, 3, 4, ctx=ctx), "v": numbered(4, ctx=ctx)}
        names["i"] = nd.array([1, 0], ctx=ctx, dtype="int32")
        exec(statement.replace("; ", "\n"), names)
        results.append(names["r"])
    assert isinstance(results[0]._data, DeviceArray)
    assert results[0].context == GPU
    assert results[0].dtype == results[1].dtype
    assert np.array_equal(results[0].asnumpy(), results[1].asnumpy())


def test_views_share_the_memory_of_the_device_and_need_no_transfer() -> None:
    x = numbered(2, 3, 4)
    before = Transfers.count
    x[0][1:].reshape((-1,))[:] = 0
    x[1, 2] += 1
    assert Transfers.count == before
    assert x.asnumpy().ravel().tolist() == [0, 1, 2, 3, *[0] * 8, *range(12, 20), 21, 22, 23, 24]


def test_arrays_move_between_devices_with_their_gradient() -> None:
    a = nd.ones((2,))
    a.attach_grad()
    with autograd.record():
        y = a.as_in_context(GPU) * nd.array([3, 4], ctx=GPU)
        z = y.copyto(mx.cpu()) * 2
    assert y.context == GPU
    z.backward()
    assert a.grad.asnumpy().tolist() == [6, 8]
    target = nd.zeros((2,), ctx=GPU)
    assert a.copyto(target) is target
    target[:] = a * 2
    assert target.asnumpy().tolist() == [2, 2]
    assert isinstance(target._data, DeviceArray)


def test_gradients_stay_on_the_device() -> None:
    a = numbered(2, 3)
    a.attach_grad()
    with autograd.record():
        y = (a[:, 1:] * 2)[nd.array([1, 1], ctx=GPU)].sum() + a[0, 0]
    y.backward()
    assert isinstance(a.grad._data, DeviceArray)
    assert a.grad.asnumpy().tolist() == [[1, 0, 0], [0, 4, 4]]


def test_files_remember_the_device_and_fall_back_to_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.params"
    nd.save(path, {"w": numbered(2, 3)})
    assert nd.load(path)["w"].context == GPU
    monkeypatch.setattr("autohybrid.tensor.saving.num_gpus", lambda: 0)
    found = nd.load(path)["w"]
    assert found.context == mx.cpu()
    assert found.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
