"""Softmax, LayerNorm, GELU, sums in fast calls: close to the interpreter for every range of data; equal when exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import nn


class Net(mx.gluon.HybridBlock):
    """A block around a function of (F, arrays)."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, *args: Any) -> Any:
        return self.function(F, *args)


def compare(function: Any, *arrays: Any, rtol: float = 2e-6, atol: float = 1e-6) -> str:
    """Fast calls against imperative ones within a tolerance, exact ones bit for bit; the fast code."""
    net = Net(function)
    expected = [r.asnumpy() for r in leaves(net(*arrays))]
    before = [a.asnumpy() for a in arrays]
    net.hybridize(exact=True)
    for _ in range(2):
        for got, wanted in zip(leaves(net(*arrays)), expected, strict=True):
            np.testing.assert_array_equal(got.asnumpy(), wanted)
    net.hybridize(exact=False)
    for _ in range(2):
        for got, wanted in zip(leaves(net(*arrays)), expected, strict=True):
            assert got.dtype == wanted.dtype and got._data.flags.c_contiguous
            np.testing.assert_allclose(got.asnumpy(), wanted, rtol=rtol, atol=atol)
    for array, values in zip(arrays, before):
        np.testing.assert_array_equal(array.asnumpy(), values)
    return str(next(iter(next(iter(net._compiled.entries.values())).function._code.values())).source)  # type: ignore


def leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def drawn(*shape: int, scale: float = 1.0, seed: int = 0, dtype: str = "float32") -> Any:
    """Random data."""
    return nd.array(np.random.RandomState(seed).normal(0, scale, shape), dtype=dtype)


SHAPES = [(5,), (1, 1), (3, 7), (2, 3, 4, 5), (300, 600), (1, 700, 300), (20, 130, 128)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1.0, 25.0, 1000.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax(shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x = drawn(*shape, scale=scale, dtype=dtype)
    source = compare(lambda F, x: [F.softmax(x), F.softmax(F.tanh(x) * scale) * 2], x, rtol=2e-5)
    assert "softmax(ones" in source


@pytest.mark.parametrize("values", [[np.inf, 1, 2], [np.nan, 1, 2], [-np.inf, 1, 2], [-np.inf] * 3, [3e38, -3e38, 0]])
def test_softmax_of_special_values(values: list[float]) -> None:
    compare(lambda F, x: F.softmax(x), nd.array([values, [1, 2, 3]]))


def test_softmax_of_masked_scores() -> None:
    scores = drawn(4, 300, 300)
    mask = nd.array(np.triu(np.full((300, 300), -1e9), 1))
    compare(lambda F, s, m: F.softmax(F.broadcast_add(s, m)), scores, mask)


def test_rows_that_lie_scattered_in_memory() -> None:
    def scattered(F: Any, x: Any) -> Any:
        flipped = F.tanh(F.transpose(x, (0, 2, 1)))
        return [F.softmax(flipped), F.softmax(F.transpose(x, (1, 0, 2)))]

    compare(scattered, drawn(3, 5, 4))
    compare(scattered, drawn(3, 300, 301))


def test_other_kinds_of_softmax() -> None:
    x = drawn(3, 4, 5)
    compare(lambda F, x: [F.softmax(x, axis=1), F.softmax(x, temperature=2.0), F.softmax(x, dtype="float64")], x)
    compare(lambda F, x, n: F.softmax(x, length=n, use_length=True), x, nd.ones((3, 4), dtype="int32"))
    compare(lambda F, x: F.softmax(x), drawn(0, 4))
    compare(lambda F, x: F.softmax(x), drawn(3, 4, dtype="float16"), rtol=1e-2)


@pytest.mark.parametrize("shape", [(3, 7), (2, 3, 4, 5), (300, 600), (1, 700, 300), (40, 16, 512)])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_layer_norm(shape: tuple[int, ...], offset: float) -> None:
    x, gamma, beta = drawn(*shape) + offset, drawn(shape[-1], seed=1), drawn(shape[-1], seed=2)

    def norms(F: Any, x: Any, gamma: Any, beta: Any) -> Any:
        return [F.LayerNorm(x, gamma, beta), F.LayerNorm(F.relu(x), gamma, beta, eps=0.1) * 2]

    # What the mean is rounded by grows with it, in units of the deviation.
    source = compare(norms, x, gamma, beta, atol=4e-6 * (offset + 4))
    assert "layer_norm(shares" in source


def test_layer_norm_of_one_axis_and_other_axes() -> None:
    x = drawn(4, 5)
    gamma, beta = drawn(4, seed=1), drawn(4, seed=2)
    compare(lambda F, x, g, b: F.LayerNorm(x, g, b, axis=0), x, gamma, beta)
    compare(lambda F, x, g, b: F.LayerNorm(x, g, b, output_mean_var=True), drawn(5, 4), gamma, beta)
    compare(lambda F, x, g, b: F.LayerNorm(F.tanh(x), F.exp(g), b), drawn(4), gamma, beta)


@pytest.mark.parametrize("shape", [(7,), (3, 5), (300, 1000)])
def test_gelu(shape: tuple[int, ...]) -> None:
    compare(lambda F, x: F.LeakyReLU(x, act_type="gelu"), drawn(*shape, scale=3), rtol=0, atol=1e-6)
    compare(lambda F, x: F.LeakyReLU(x * 2, act_type="gelu") + x, drawn(*shape, scale=3), rtol=1e-6, atol=2e-6)


def test_gelu_far_from_zero() -> None:
    x = nd.array([-1e30, -100, -20, -6, -5.5, -1e-30, 0, 1e-30, 5.5, 6, 20, 100, 1e30])
    compare(lambda F, x: F.LeakyReLU(x, act_type="gelu"), x, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("shape", [(4096, 5), (7, 300, 30), (2, 3, 4, 5), (1, 6)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_over_the_first_axes(shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(*shape, dtype=dtype)
    last = len(shape) - 1
    kinds = [{"axis": 0}, {"axis": last, "exclude": True}, {"axis": tuple(range(last)), "keepdims": True}]
    source = compare(lambda F, x: [F.sum(x, **kind) for kind in kinds], x, rtol=2e-6, atol=2e-4)
    assert source.count("ones.T.dot") + source.count("ones_1.T.dot") == 3
    compare(lambda F, x: [F.sum(x), F.sum(x, axis=last), F.sum(F.transpose(x), axis=0)], x, rtol=2e-6, atol=2e-4)


def test_sums_of_special_values_and_of_other_numbers() -> None:
    compare(lambda F, x: F.sum(x, axis=0), nd.array([[np.inf, np.nan, 3e38, -np.inf], [1, 2, 3, np.inf]]))
    for dtype in ("float16", "int32", "int8"):
        compare(lambda F, x: F.sum(x, axis=0), nd.array([[1, 2], [3, 100], [5, 6]], dtype=dtype))
    compare(lambda F, x: F.sum(x, axis=0), drawn(0, 4))


def test_rows_and_elements_share_a_loop() -> None:
    norm = nn.LayerNorm()
    norm.initialize()
    x = drawn(700, 512)
    norm(x)
    net = nn.HybridSequential()
    net.add(nn.GELU(), norm, nn.HybridLambda("softmax"))
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-7)
    code: Any = next(iter(next(iter(net._compiled.entries.values())).function._code.values()))
    assert code.source.count("for start") == 1
