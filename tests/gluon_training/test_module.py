"""Module and what goes with it: training, checkpoints, several devices, buckets, stores, monitor, tables of layers."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.errors import MXNetError


def _classifier() -> Any:
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=16, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name="fc2"), name="softmax")


def _points(count: int = 200) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x = np.random.RandomState(0).randn(count, 4).astype("float32")
    return x, (x[:, 0] * x[:, 1] > 0).astype("float32")


@pytest.mark.parametrize("devices", [1, 2])
def test_fit_score_predict_and_checkpoints(tmp_path: Path, devices: int, caplog: pytest.LogCaptureFixture) -> None:
    mx.random.seed(0)
    x, y = _points()
    train = mx.io.NDArrayIter(x, y, 20)
    contexts = [mx.cpu(i) for i in range(devices)]
    module = mx.mod.Module(_classifier(), context=contexts)
    prefix = str(tmp_path / "model")
    with caplog.at_level(logging.INFO):
        module.fit(
            train,
            eval_data=train,
            num_epoch=12,
            optimizer="adam",
            optimizer_params={"learning_rate": 0.03},
            epoch_end_callback=mx.callback.do_checkpoint(prefix, 6),
            batch_end_callback=mx.callback.Speedometer(20, 5),
        )
    assert "Validation-accuracy" in caplog.text and "samples/sec" in caplog.text
    score = module.score(train, "acc")
    assert score[0][1] > 0.9
    module.save_checkpoint(prefix, 12, save_optimizer_states=True)
    loaded = mx.mod.Module.load(prefix, 12, load_optimizer_states=True)
    loaded.bind(train.provide_data, train.provide_label)
    loaded.init_optimizer()
    np.testing.assert_allclose(loaded.predict(train).asnumpy(), module.predict(train).asnumpy(), rtol=1e-5)
    assert loaded.predict(train).shape == (200, 2)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 6)
    assert symbol.list_arguments()[0] == "data" and set(arguments) == set(module.get_params()[0]) and not states


def test_shapes_may_change_from_batch_to_batch() -> None:
    module = mx.mod.Module(_classifier())
    module.bind([("data", (4, 3))], [("softmax_label", (4,))])
    module.init_params(mx.init.One())
    for rows in (2, 7):
        module.forward(mx.io.DataBatch([nd.ones((rows, 3))], [nd.zeros((rows,))]), is_train=True)
        module.backward()
        assert module.get_outputs()[0].shape == (rows, 2)
    assert (module.get_params()[0]["fc1_weight"].asnumpy() == 1).all()


def test_fixed_parameters_and_input_gradients() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, no_bias=True, name="fc")
    module = mx.mod.Module(symbol, label_names=None, fixed_param_names=["fc_weight"])
    module.bind([("data", (2, 3))], inputs_need_grad=True)
    module.init_params(mx.init.Constant(2))
    module.init_optimizer()
    module.forward(mx.io.DataBatch([nd.ones((2, 3))]))
    module.backward(nd.ones((2, 1)))
    module.update()
    np.testing.assert_array_equal(module.get_input_grads()[0].asnumpy(), 2 * np.ones((2, 3)))
    assert (module.get_params()[0]["fc_weight"].asnumpy() == 2).all()


def test_buckets_share_parameters() -> None:
    def make(length: int) -> Any:
        summed = mx.sym.sum(mx.sym.var("data"), axis=1, keepdims=True)
        net = mx.sym.FullyConnected(summed / length, num_hidden=2, name="fc")
        return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(make, default_bucket_key=6)
    module.bind([("data", (2, 6))], [("softmax_label", (2,))])
    module.init_params(mx.init.Constant(0.5))
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    for length in (6, 3, 6):
        shapes = {"provide_data": [("data", (2, length))], "provide_label": [("softmax_label", (2,))]}
        batch = mx.io.DataBatch([nd.ones((2, length))], [nd.array([0, 1])], bucket_key=length, **shapes)
        module.forward(batch)
        module.backward()
        module.update()
    assert sorted(module._buckets) == [3, 6]
    arrays = [m._exec_group.execs[0].arg_dict["fc_weight"] for m in module._buckets.values()]
    assert arrays[0] is arrays[1]


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: mx.mod.Module(_classifier(), data_names=["datum"]), ValueError, "did you mean one of data"),
        (lambda: mx.mod.Module(_classifier()).forward(None), AssertionError, r"call bind\(\) first"),
        (lambda: mx.mod.Module(_classifier()).fit(None), AssertionError, "num_epoch"),
        (
            lambda: mx.mod.Module(_classifier(), context=[mx.cpu(0), mx.cpu(1)]).bind(
                [("data", (1, 2))], [("softmax_label", (1,))]
            ),
            ValueError,
            "too small for 2 devices",
        ),
    ],
)
def test_mistakes_are_named(action: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        action()


def test_parameters_given_by_name() -> None:
    module = mx.mod.Module(_classifier())
    module.bind([("data", (1, 2))], [("softmax_label", (1,))])
    given = {"fc1_weight": nd.ones((16, 2))}
    with pytest.raises(RuntimeError, match="`fc1_bias` is not among the parameters given"):
        module.init_params(None, given, {})
    module.init_params(mx.init.Zero(), {"odd": nd.ones((1,))}, {}, allow_missing=True)
    assert "odd" not in module.get_params()[0]
    module.init_params(mx.init.Zero(), given, {}, allow_missing=True, force_init=True)
    assert module.get_params()[0]["fc1_weight"].asnumpy().sum() == 32


# -- stores ------------------------------------------------------------------------------------------------------------
def test_a_store_adds_up_devices_and_updates() -> None:
    store = mx.kv.create("device")
    store.init("w", nd.ones((2,)))
    outputs = [nd.zeros((2,), ctx=mx.cpu(i)) for i in range(3)]
    store.push("w", [nd.ones((2,), ctx=mx.cpu(i)) * i for i in range(3)])
    store.pull("w", out=outputs)
    assert [o.asnumpy().tolist() for o in outputs] == [[3, 3]] * 3
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    store.pushpull("w", [nd.ones((2,))] * 2, out=outputs)
    assert outputs[2].asnumpy().tolist() == [2, 2]
    with pytest.raises(MXNetError, match="initialized already"):
        store.init("w", nd.ones((2,)))
    with pytest.raises(MXNetError, match="keys of this store are str"):
        store.init(3, nd.ones((2,)))
    with pytest.raises(MXNetError, match="was not initialized"):
        store.push("v", nd.ones((2,)))
    with pytest.raises(MXNetError, match="several machines"):
        mx.kv.create("dist_sync")
    with pytest.raises(MXNetError, match="there is no key-value store"):
        mx.kv.create("odd")


def test_stores_can_be_registered() -> None:
    @mx.kvstore.KVStoreBase.register
    class Counting(mx.kvstore.KVStoreBase):
        pass

    assert isinstance(mx.kv.create("counting"), Counting)
    with pytest.raises(NotImplementedError, match="Counting does not offer `pushpull`"):
        mx.kv.create("counting").pushpull(0, nd.ones((1,)))


# -- watching ----------------------------------------------------------------------------------------------------------
def test_a_monitor_sees_what_matches_its_pattern() -> None:
    module = mx.mod.Module(_classifier())
    module.bind([("data", (1, 2))], [("softmax_label", (1,))])
    module.init_params(mx.init.Constant(2))
    monitor = mx.mon.Monitor(1, pattern="fc1_.*", sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(mx.io.DataBatch([nd.ones((1, 2))], [nd.zeros((1,))]), is_train=True)
    found = {name: text.strip() for _, name, text in monitor.toc()}
    assert found["fc1_weight"] == "2.0" and set(found) == {"fc1_bias", "fc1_output", "fc1_weight"}


def test_a_table_of_layers(capsys: pytest.CaptureFixture[str]) -> None:
    mx.viz.print_summary(_classifier(), shape={"data": (5, 4)})
    text = capsys.readouterr().out
    assert "Total params: 114" in text
    assert [line.split()[:3] for line in text.splitlines() if line.startswith("fc2")] == [
        ["fc2(FullyConnected)", "2", "34"]
    ]
