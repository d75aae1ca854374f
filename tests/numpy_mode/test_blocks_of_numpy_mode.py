"""Gluon in numpy mode: blocks, losses and training on `mx.np` arrays, hybridized as imperatively; graphs and files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, np, npx
from autohybrid.gluon import nn, rnn


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


class Functions(nn.HybridBlock):
    """Functions by F, by `mx.np` itself, methods, operators, subscripts, masks and writes."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Dense(3, in_units=2)
        self.w = self.params.get("w", shape=(3,), init="ones")

    def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
        h = F.npx.relu(self.fc(x)) * w + 1
        y = np.tanh(h) @ h.T
        return F.np.sum(h, axis=1), F.npx.reshape(h, (-2, -1)), h[:, 0], h.mean(), h > 1, h[0, 0], y, h.max() - h / 3


class Writes(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        z = x.copy()
        z[:, 0] = 7
        z[x > 0.5] = 0.25
        z[0] += x[1]
        z *= 2
        return z, x


class Branches(nn.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        total = F.np.zeros_like(x[0])
        for row in x:
            if row.sum() > 0:
                total = total + row
            else:
                total = total - 2 * row
        return total


def _outcome(block: Any, x: Any) -> list[Any]:
    x.attach_grad()
    with autograd.record():
        outputs = block(x)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        loss = sum([o.sum() for o in outputs if onp.dtype(o.dtype).kind == "f"])
    loss.backward()
    assert all(isinstance(o, np.ndarray) for o in outputs)
    gradients = [p.grad() for p in block.collect_params().values() if p.grad_req != "null"]
    assert all(isinstance(g, np.ndarray) for g in gradients)
    return [o.asnumpy() for o in (*outputs, x.grad, *gradients)]


def _convolutional() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Flatten(), nn.Dense(5),
            nn.LayerNorm(), nn.LeakyReLU(0.1), nn.Dense(2))  # fmt: skip
    return net


class Recurrent(nn.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.out = rnn.LSTM(4), nn.Dense(3, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.out(self.rnn(x))


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
@pytest.mark.parametrize(
    "make, shape",
    [(Functions, (4, 2)), (Branches, (3, 4)), (_convolutional, (2, 3, 8, 8)), (Recurrent, (5, 2, 3))],
)
def test_hybridized_blocks_give_what_imperative_ones_give(make: Any, shape: tuple[int, ...]) -> None:
    net = make()
    net.initialize(mx.init.Xavier() if make is not Functions else mx.init.Uniform(1))
    x = np.random.uniform(-1, 1, size=shape)
    net(x)
    wanted = _outcome(net, x)
    net.hybridize()
    for _ in range(2):
        for found, value in zip(_outcome(net, x), wanted, strict=True):
            assert found.shape == value.shape and found.dtype == value.dtype
            onp.testing.assert_allclose(found, value, rtol=1e-4, atol=1e-5)
    assert net._compiled.entries and not net._compiled.imperative


@pytest.mark.filterwarnings("ignore::autohybrid.HybridizeWarning")
def test_writes_in_hybridized_blocks() -> None:
    net, x = Writes(), np.random.uniform(-1, 1, size=(3, 4))
    wanted = [o.asnumpy() for o in net(x)]
    net.hybridize(fallback=False)
    for _ in range(2):
        for found, value in zip(net(x), wanted, strict=True):
            assert found.asnumpy().tolist() == value.tolist()


@pytest.mark.parametrize(
    "loss",
    [
        gluon.loss.L2Loss(), gluon.loss.L1Loss(), gluon.loss.HuberLoss(), gluon.loss.HingeLoss(),
        gluon.loss.SigmoidBinaryCrossEntropyLoss(), gluon.loss.KLDivLoss(), gluon.loss.LogisticLoss(),
        gluon.loss.SquaredHingeLoss(), gluon.loss.PoissonNLLLoss(),
        gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False),
    ],
    ids=lambda loss: type(loss).__name__,
)  # fmt: skip
def test_losses_are_those_of_classic_arrays(loss: Any) -> None:
    x, y = onp.random.RandomState(0).uniform(0.1, 0.9, (2, 3, 4)).astype("float32")
    found = loss(np.array(x), np.array(y))
    npx.reset_np()
    wanted = loss(mx.nd.array(x), mx.nd.array(y)).asnumpy()
    assert isinstance(found, np.ndarray)
    onp.testing.assert_allclose(found.asnumpy().reshape(wanted.shape), wanted, rtol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_parameter_of_unknown_shape_takes_that_of_its_partner(hybridize: bool) -> None:
    class Scale(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.w = self.params.get("w", allow_deferred_init=True, init="ones")

        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return x * w + F.np.dot(x, x.T).sum()

    net = Scale()
    net.initialize()
    if hybridize:
        net.hybridize(fallback=False)
    assert net(np.ones((2, 3))).tolist() == [[13] * 3] * 2
    assert net.w.shape == (2, 3)


@pytest.mark.parametrize("hybridize", [False, True])
def test_training(hybridize: bool) -> None:
    mx.random.seed(3)
    weights = onp.array([[2.0, -3.4]], dtype="float32")
    features = onp.random.RandomState(1).normal(size=(200, 2)).astype("float32")
    labels = features @ weights.T + 4.2
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(np.array(features), np.array(labels)), 20, shuffle=True)
    net = nn.HybridSequential()
    net.add(nn.Dense(1))
    net.initialize(mx.init.Normal(0.01))
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = gluon.loss.L2Loss()
    for _ in range(10):
        for x, y in data:
            assert isinstance(x, np.ndarray)
            with autograd.record():
                error = loss(net(x), y)
            error.backward()
            trainer.step(20)
    assert abs(net[0].weight.data().asnumpy() - weights).max() < 0.01
    assert abs(net[0].bias.data().item() - 4.2) < 0.01


def test_an_exported_net_is_a_graph_of_numpy_operators(tmp_path: Path) -> None:
    net = Functions()
    net.initialize()
    net.hybridize(fallback=False)
    x = np.ones((4, 2))
    wanted = net(x)[0].asnumpy()
    net.export(str(tmp_path / "net"))
    graph = json.loads((tmp_path / "net-symbol.json").read_text())
    assert {"_np_sum", "_npx_reshape", "_npi_greater_scalar"} <= {node["op"] for node in graph["nodes"]}
    block = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    found = block(x)[0]
    assert isinstance(found, np.ndarray)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


def test_symbols_have_numpys_operators() -> None:
    with mx.name.NameManager():
        x, y = mx.sym.var("x").as_np_ndarray(), mx.sym.var("y").as_np_ndarray()
        z = mx.sym.np.sum(2 - x * y / 3 > 0.5, axis=1)
    assert [n["op"] for n in json.loads(z.tojson())["nodes"] if n["op"] != "null"] == [
        "_npi_multiply", "_npi_true_divide_scalar", "_npi_rsubtract_scalar", "_npi_greater_scalar", "_np_sum"
    ]  # fmt: skip
    assert z.list_outputs() == ["sum0_output"]
    assert z.infer_shape(x=(2, 3), y=(3,))[1] == [(2,)]
    values = {"x": np.array([[1.0, 2.0, 3.0]]), "y": np.array([1.0, 1.0, 1.0])}
    (found,) = z.eval(**values)
    assert found.asnumpy().tolist() == [3]


@pytest.mark.parametrize(
    "key", ["0", "slice(1, None)", "(0, slice(None), 1)", "(slice(0, 1), None)", "(Ellipsis, None)"]
)
def test_subscripts_of_symbols(key: str) -> None:
    value = onp.arange(24.0, dtype="float32").reshape(2, 3, 4)
    x = mx.sym.var("x").as_np_ndarray()
    (found,) = x[eval(key)].eval(x=np.array(value))
    assert found.asnumpy().tolist() == value[eval(key)].tolist()


def test_files_of_parameters(tmp_path: Path) -> None:
    net = _convolutional()
    net.initialize()
    x = np.ones((1, 3, 8, 8))
    wanted = net(x).asnumpy()
    net.save_parameters(str(tmp_path / "net.params"))
    other = _convolutional()
    other.load_parameters(str(tmp_path / "net.params"))
    assert isinstance(other(x), np.ndarray)
    onp.testing.assert_allclose(other(x).asnumpy(), wanted, rtol=1e-6)
