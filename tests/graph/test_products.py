"""Dense layers with packed weights: fast calls within a tolerance, exact calls bit for bit, weights that change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import nn
from autohybrid.tensor.packing import choose_tiles


def dense(units: int, width: int, **options: Any) -> Any:
    """A layer with weights."""
    layer = nn.Dense(units, in_units=width, **options)
    layer.initialize()
    state = np.random.RandomState(0)
    for parameter in layer.collect_params().values():
        parameter.set_data(nd.array(state.uniform(-1, 1, parameter.shape)))
    return layer


def rows_of(*shape: int) -> Any:
    """Random data."""
    return nd.array(np.random.RandomState(1).uniform(-1, 1, shape))


#: Rows, width and units on both sides of every rule.
PRODUCTS = [
    (1, 7, 5),
    (1, 512, 64),
    (2, 96, 64),
    (7, 64, 64),
    (8, 128, 64),
    (8, 600, 96),
    (16, 64, 64),
    (16, 700, 96),
    (16, 64, 33),
    (32, 300, 32),
    (48, 100, 128),
    (64, 300, 64),
    (512, 16, 8),
]


@pytest.mark.parametrize(("rows", "width", "units"), PRODUCTS)
@pytest.mark.parametrize("bias", [True, False])
def test_fast_products_are_close_and_exact_ones_equal(rows: int, width: int, units: int, bias: bool) -> None:
    layer, x = dense(units, width, use_bias=bias), rows_of(rows, width)
    for step in range(2):
        expected = layer(x).asnumpy()
        layer.hybridize()
        for _ in range(2):
            np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-5, atol=2e-6 * width**0.5)
        layer.hybridize(exact=True)
        for _ in range(2):
            np.testing.assert_array_equal(layer(x).asnumpy(), expected)
        layer.hybridize(False)
        layer.weight.data()[step % units] = 0.25  # packed weights follow


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_other_dtypes(dtype: str) -> None:
    layer, x = dense(64, 64), rows_of(16, 64).astype(dtype)
    layer.cast(dtype)
    expected = layer(x).asnumpy()
    layer.hybridize()
    np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-2 if dtype == "float16" else 1e-12)


def test_data_of_more_axes() -> None:
    x = rows_of(2, 4, 3, 32)
    for layer in (dense(32, 32, flatten=False), dense(32, 384)):
        expected = layer(x).asnumpy()
        layer.hybridize()
        for _ in range(2):
            np.testing.assert_allclose(layer(x).asnumpy(), expected, rtol=1e-5, atol=1e-5)


def test_tiles_divide_what_they_are_chosen_for() -> None:
    chosen = 0
    for rows in (*range(1, 70), 128, 512):
        for width in (1, 64, 256, 257, 1024, 4096):
            for units in (1, 32, 48, 64, 1000, 1024):
                tiles = choose_tiles(rows, width, units)
                if tiles is not None:
                    chosen += 1
                    assert units % tiles.columns == 0
                    assert sum(count * size for _, count, size in tiles.parts(rows)) == rows
                    assert tiles.rows * tiles.columns * width < 1_000_000
    assert chosen > 50


def test_one_weight_in_two_places_is_packed_once() -> None:
    shared = dense(64, 64)
    net = nn.HybridSequential()
    net.add(shared, shared, shared)
    x = rows_of(24, 64)
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-4)
    code: Any = next(iter(next(iter(net._compiled.entries.values())).function._code.values()))
    assert len(code.__globals__["prepared"]._recipes) == 1


class Hidden(mx.gluon.HybridBlock):
    """Dense layers with a rectifier between them, called as `between` says."""

    def __init__(self, between: Any) -> None:
        super().__init__()
        self.between = between
        with self.name_scope():
            self.first, self.second, self.third = (dense(n, m) for n, m in ((40, 24), (40, 40), (5, 40)))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.between(F, self, x)


CHAINS: dict[str, tuple[Any, int]] = {
    "chain": (lambda F, n, x: n.third(F.relu(n.second(F.Activation(n.first(x), act_type="relu")))), 2),
    "two readers": (lambda F, n, x: n.third(F.relu(n.first(x))) + n.third(n.second(F.relu(n.first(x)))), 1),
    "another reader": (lambda F, n, x: n.third(F.relu(n.first(x))) + F.relu(n.first(x)).sum(), 0),
    "sum read too": (lambda F, n, x: [n.third(F.relu(n.first(x))), n.first(x)], 0),
    "dropout": (lambda F, n, x: n.third(F.Dropout(F.relu(n.first(x)), p=0.5)), 1),
    "another activation": (lambda F, n, x: n.third(F.tanh(n.first(x))), 0),
    "end": (lambda F, n, x: F.relu(n.third(F.relu(n.first(x)))), 1),
}


@pytest.mark.parametrize("rows", [1, 5, 16, 300])
@pytest.mark.parametrize("name", CHAINS)
def test_biases_go_through_rectifiers(name: str, rows: int) -> None:
    between, moved = CHAINS[name]
    net, x = Hidden(between), rows_of(rows, 24)
    for step in range(3):
        expected = net(x)
        net.hybridize()
        for _ in range(2):
            for got, wanted in zip(leaves(net(x)), leaves(expected), strict=True):
                np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-4)
        code: Any = next(iter(next(iter(net._compiled.entries.values())).function._code.values()))
        assert len([name for name in code.__globals__["prepared"]._recipes if name.name.startswith("low")]) == moved
        net.hybridize(exact=True)
        for got, wanted in zip(leaves(net(x)), leaves(expected), strict=True):
            np.testing.assert_array_equal(got.asnumpy(), wanted.asnumpy())
        net.hybridize(False)
        net.first.bias.data()[step] = 3
        net.third.weight.data()[0] = step


def leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


@pytest.mark.parametrize("activation", ["relu", "Activation"])
def test_what_is_no_number_stays_so(activation: str) -> None:
    def between(F: Any, net: Any, x: Any) -> Any:
        y = net.first(x)
        return net.third(F.relu(y) if activation == "relu" else F.Activation(y, act_type="relu"))

    net, x = Hidden(between), rows_of(3, 24)
    x[1, 2] = np.nan
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-5)
