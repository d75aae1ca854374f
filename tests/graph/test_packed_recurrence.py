"""RNN, GRU and LSTM with packed weights: close to the imperative layers for every shape; equal when exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import rnn

LAYERS: dict[str, Any] = {
    "lstm": rnn.LSTM,
    "gru": rnn.GRU,
    "tanh": lambda *a, **k: rnn.RNN(*a, activation="tanh", **k),
    "relu": lambda *a, **k: rnn.RNN(*a, activation="relu", **k),
}


def close(got: Any, expected: Any) -> None:
    """Equal but for rounding, which the steps carry on."""
    for a, b in zip(leaves(got), leaves(expected), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-4, atol=2e-6)


def leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, (list, tuple)) else [result]


def drawn(*shape: int, seed: int = 0) -> Any:
    """Random data."""
    return nd.array(np.random.RandomState(seed).uniform(-1, 1, shape))


def source_of(net: Any) -> str:
    """The generated code."""
    return str(next(iter(next(iter(net._compiled.entries.values())).function._code.values())).source)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize(
    ("steps", "batch", "width", "hidden"), [(1, 1, 3, 2), (4, 5, 7, 6), (3, 20, 40, 64), (2, 32, 8, 96)]
)
@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, True)])
def test_results_and_states(
    kind: str, steps: int, batch: int, width: int, hidden: int, layers: int, both: bool
) -> None:
    net = LAYERS[kind](hidden, layers, bidirectional=both, input_size=width)
    net.initialize(mx.init.Uniform(0.7))
    x = drawn(steps, batch, width)
    cells = layers * (2 if both else 1)
    first = [drawn(cells, batch, hidden, seed=k) for k in range(2 if kind == "lstm" else 1)]
    expected = net(x, first)
    alone = net(x)
    net.hybridize()
    for _ in range(2):
        close(net(x, first), expected)
        close(net(x), alone)
    assert "run_layers" in source_of(net)
    net.hybridize(exact=True)
    for a, b in zip(leaves(net(x, first)), leaves(expected), strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("kind", LAYERS)
def test_weights_that_change_are_packed_again(kind: str) -> None:
    net = LAYERS[kind](32, 2, input_size=16)
    net.initialize(mx.init.Uniform(0.7))
    x = drawn(3, 8, 16)
    net.hybridize()
    before = net(x).asnumpy()
    net.l1_h2h_weight.data()[0] = 0.5
    after = net(x)
    net.hybridize(False)
    close(after, net(x))
    assert not np.allclose(after.asnumpy(), before)


def test_outputs_between_other_calls() -> None:
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.first, self.second = rnn.LSTM(64, input_size=64), rnn.GRU(64, bidirectional=True, input_size=64)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.first(F.tanh(x))
            return [F.relu(self.second(y)), y + 1]

    net = Net()
    net.initialize(mx.init.Uniform(0.3))
    x = drawn(20, 16, 64)
    expected = net(x)
    net.hybridize()
    kept = [net(x) for _ in range(3)]
    for result in kept:
        close(result, expected)


def test_large_gates_saturate() -> None:
    net = rnn.LSTM(8, input_size=4)
    net.initialize(mx.init.Uniform(50))
    x = drawn(6, 3, 4) * 100
    expected = net(x)
    net.hybridize()
    close(net(x), expected)


def test_what_is_not_covered_runs_as_before() -> None:
    x = drawn(3, 4, 5)
    for net in (rnn.LSTM(6, projection_size=3, input_size=5), rnn.LSTM(6, input_size=5, use_sequence_length=True)):
        net.initialize()
        more = [None, nd.array([1, 2, 3, 3])] if net._use_sequence_length else []
        arguments = [x, net.begin_state(4), more[1]] if more else [x]
        expected = net(*arguments)
        net.hybridize()
        close(net(*arguments), expected)
        assert "run_layers" not in source_of(net)


def test_float64_and_empty_data() -> None:
    net = rnn.GRU(6, input_size=5)
    net.initialize()
    net.cast("float64")
    x = drawn(3, 4, 5).astype("float64")
    expected = net(x)
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected.asnumpy(), rtol=1e-12)
    assert net(nd.zeros((3, 0, 5), dtype="float64")).shape == (3, 0, 6)
