"""Trainer: steps on one device and several, stale gradients, stores, states on disk, loss scaling."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.errors import MXNetError

_FOLDER = Path(__file__).parents[1] / "data" / "training"
_ROOT = Path(__file__).parents[2]


def _array(fact: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.array([float(v) for v in fact["values"]], fact["dtype"]).reshape(fact["shape"])


def _dense() -> gluon.nn.Dense:
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    return net


def _backward(net: Any, ctx: mx.Context = mx.cpu()) -> None:  # noqa: B008 - a device is a value
    x = nd.array([[1, 2, 3], [4, 5, 6]], ctx=ctx)
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()


def test_training_goes_on_from_states_that_mxnet_saved() -> None:
    recorded = json.loads((_FOLDER / "facts.json").read_text())["files"]["adam"]
    net = _dense()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1, "wd": 0.01})
    for number, (weight, bias) in enumerate(recorded):
        if number == 2:
            trainer = gluon.Trainer(net.collect_params(), "sgd")
            trainer.load_states(str(_FOLDER / "adam.states"))
        _backward(net)
        trainer.step(2)
        np.testing.assert_allclose(net.weight.data().asnumpy(), _array(weight), rtol=1e-5)
        np.testing.assert_allclose(net.bias.data().asnumpy(), _array(bias), rtol=1e-5)


@pytest.mark.parametrize("kvstore", ["device", "local", None])
@pytest.mark.parametrize("on_store", [None, False])
def test_two_devices_train_as_one(kvstore: Any, on_store: Any) -> None:
    if kvstore is None and on_store is None:
        pytest.skip("without a store each device trains alone")
    devices = [mx.cpu(0), mx.cpu(1)]
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One(), ctx=devices)
    trainer = gluon.Trainer(
        net.collect_params(),
        "sgd",
        {"learning_rate": 0.01, "momentum": 0.9},
        kvstore=kvstore,
        update_on_kvstore=on_store,
    )
    single = _dense()
    alone = gluon.Trainer(single.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    data = nd.array(np.arange(12).reshape(4, 3))
    for _ in range(3):
        with autograd.record():
            losses = [(net(part) ** 2).sum() for part in gluon.utils.split_and_load(data, devices)]
            whole = (single(data) ** 2).sum()
        autograd.backward(losses)
        whole.backward()
        trainer.step(4)
        alone.step(4)
    first, second = (net.weight.data(device).asnumpy() for device in devices)
    if kvstore is not None:
        np.testing.assert_allclose(first, second, rtol=1e-6)
        np.testing.assert_allclose(first, single.weight.data().asnumpy(), rtol=1e-5)
    else:
        assert np.abs(first - second).max() > 1e-3


def test_stale_gradients_are_reported_or_skipped() -> None:
    net, idle = _dense(), gluon.Parameter("idle", shape=(2,), init="ones")
    idle.initialize()
    trainer = gluon.Trainer([net.weight, net.bias, idle], "sgd", {"learning_rate": 0.1, "wd": 0.5})
    _backward(net)
    with pytest.raises(UserWarning, match="gradient of `idle` on cpu"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    np.testing.assert_array_equal(idle.data().asnumpy(), [1, 1])
    with pytest.raises(UserWarning, match="ignore_stale_grad"):
        trainer.step(1)


def test_reduced_gradients_can_be_clipped_before_the_update() -> None:
    net = _dense()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    _backward(net)
    trainer.allreduce_grads()
    grads = [p.grad() for p in net.collect_params().values()]
    before = np.sqrt(sum((g.asnumpy().astype("float64") ** 2).sum() for g in grads))
    assert gluon.utils.clip_global_norm(grads, 0.5) == pytest.approx(before, rel=1e-5)
    trainer.update(1)
    moved = np.concatenate([(1 - net.weight.data().asnumpy()).ravel(), -net.bias.data().asnumpy()])
    assert np.linalg.norm(moved) == pytest.approx(0.5, rel=1e-4)


def test_methods_without_meaning_on_a_store_are_refused() -> None:
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for method in (trainer.allreduce_grads, lambda: trainer.update(1)):
        with pytest.raises(AssertionError, match="update_on_kvstore=False"):
            method()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (3, ValueError, "list or dict"),
        ([3], ValueError, "one entry is a int"),
        ({"a": 1}, ValueError, "one entry is a int"),
    ],
)
def test_only_parameters_can_be_trained(params: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gluon.Trainer(params, "sgd")


def test_deferred_parameters_reach_the_store_when_they_have_values() -> None:
    devices = [mx.cpu(0), mx.cpu(1)]
    net = gluon.nn.Dense(1)
    net.initialize(mx.init.One(), ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    with autograd.record():
        losses = [net(nd.ones((1, 2), ctx=device)).sum() for device in devices]
    autograd.backward(losses)
    trainer.step(2)
    np.testing.assert_allclose(net.weight.data(devices[1]).asnumpy(), [[0.5, 0.5]])


def test_loaded_values_replace_those_of_the_store(tmp_path: Path) -> None:
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    net.save_parameters(str(tmp_path / "net.params"))
    for _ in range(2):
        with autograd.record():
            losses = [net(nd.ones((1, 1), ctx=mx.cpu(i))).sum() for i in range(2)]
        autograd.backward(losses)
        trainer.step(1)
        net.load_parameters(str(tmp_path / "net.params"), ctx=[mx.cpu(0), mx.cpu(1)])
    with autograd.record():
        losses = [net(nd.ones((1, 1), ctx=mx.cpu(i))).sum() for i in range(2)]
    autograd.backward(losses)
    trainer.step(1)
    assert net.weight.data(mx.cpu(0)).asscalar() == 0.0


def test_loss_scaling_skips_steps_that_overflow() -> None:
    from autohybrid.contrib import amp

    net = _dense()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    amp.init_trainer(trainer)
    plain = _dense()
    reference = gluon.Trainer(plain.collect_params(), "sgd", {"learning_rate": 0.001})
    x = nd.array([[1, 2, 3]])
    with autograd.record():
        loss = (net(x) ** 2).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()
        wanted = (plain(x) ** 2).sum()
    wanted.backward()
    assert net.weight.grad().asnumpy().max() == plain.weight.grad().asnumpy().max() * 2**16
    trainer.step(1)
    reference.step(1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), plain.weight.data().asnumpy(), rtol=1e-6)
    net.weight.grad()[:] = np.inf
    before = net.weight.data().asnumpy()
    trainer.step(1)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), before)
    assert trainer._amp_loss_scaler.loss_scale == 2**15
    with pytest.raises(MXNetError, match="cast the model"):
        amp.init()


def test_damaged_states_are_refused(tmp_path: Path) -> None:
    net = _dense()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    (tmp_path / "bad.states").write_bytes((_FOLDER / "adam.states").read_bytes()[:-30])
    with pytest.raises(MXNetError, match="not optimizer states, or the file is damaged"):
        trainer.load_states(str(tmp_path / "bad.states"))


_SAVER = """
import sys
import autohybrid as mx
from autohybrid import gluon, nd, autograd
p = gluon.Parameter("p", shape=(300, 1000), init="ones")
p.initialize()
trainer = gluon.Trainer([p], "sgd", {"momentum": 0.9})
with autograd.record():
    loss = p.data().sum()
loss.backward()
trainer.step(1)
print("ready", flush=True)
while True:
    trainer.save_states(sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process by signal")
def test_a_process_killed_while_saving_leaves_whole_states(tmp_path: Path) -> None:
    path = tmp_path / "t.states"
    for delay in (0.05, 0.11, 0.17):
        command = [sys.executable, "-c", _SAVER, str(path)]
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == b"ready"
            while not path.exists():
                time.sleep(0.01)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        updater = mx.optimizer.get_updater(mx.optimizer.SGD())
        updater.set_states(path.read_bytes())
        assert updater.states[0].shape == (300, 1000)
