"""Convolution, its transpose and pooling against loops written out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import autohybrid as mx


def double(values: object) -> mx.nd.NDArray:
    """An array of float64, in which formulas are compared."""
    return mx.nd.array(values, dtype="float64")


CONVOLUTIONS = [
    ((2, 4, 7), (6, 2, 3), {"kernel": (3,), "stride": (2,), "pad": (1,), "num_group": 2}),
    ((2, 3, 6, 5), (4, 3, 2, 3), {"kernel": (2, 3), "dilate": (2, 1), "pad": (1, 2)}),
    ((1, 4, 5, 5), (4, 1, 3, 3), {"kernel": (3, 3), "num_group": 4, "stride": (1, 2)}),
    ((1, 2, 4, 3, 4), (3, 2, 2, 2, 2), {"kernel": (2, 2, 2), "stride": (1, 1, 2)}),
    ((3, 2, 17, 17), (2, 2, 1, 1), {"kernel": (1, 1)}),
    ((2, 2, 20, 20), (3, 2, 3, 3), {"kernel": (3, 3), "pad": (1, 1)}),
]
POOLS = [
    {"kernel": (2, 2), "stride": (2, 2)},
    {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1)},
    {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"},
    {"kernel": (3, 3), "pad": (1, 0), "stride": (2, 2), "pooling_convention": "full", "count_include_pad": False},
]


def _window(attrs: dict[str, Any], name: str, rank: int, default: int) -> tuple[int, ...]:
    return tuple(attrs.get(name, (default,) * rank))


def naive_convolution(x: np.ndarray, w: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    """Every output element by its definition."""
    rank = x.ndim - 2
    stride, dilate, pad = (_window(attrs, n, rank, d) for n, d in (("stride", 1), ("dilate", 1), ("pad", 0)))
    groups = attrs.get("num_group", 1)
    padded = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pad]])
    extents = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded.shape[2:], dilate, w.shape[2:], stride)]
    result = np.zeros((x.shape[0], w.shape[0], *extents))
    inputs, outputs = x.shape[1] // groups, w.shape[0] // groups
    for n, o in itertools.product(range(x.shape[0]), range(w.shape[0])):
        first = o // outputs * inputs
        for place in itertools.product(*map(range, extents)):
            for tap in itertools.product(*map(range, w.shape[2:])):
                at = tuple(p * s + t * d for p, s, t, d in zip(place, stride, tap, dilate))
                result[(n, o, *place)] += padded[(n, slice(first, first + inputs), *at)] @ w[(o, slice(None), *tap)]
    return result


@pytest.mark.parametrize("data, weight, attrs", CONVOLUTIONS)
def test_convolution_is_its_definition(data: tuple[int, ...], weight: tuple[int, ...], attrs: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=data), rng.normal(size=weight), rng.normal(size=weight[:1])
    found = mx.nd.Convolution(double(x), double(w), double(b), num_filter=weight[0], **attrs)
    expected = naive_convolution(x, w, attrs) + b.reshape(-1, *[1] * (x.ndim - 2))
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("data, weight, attrs", CONVOLUTIONS)
def test_deconvolution_is_the_adjoint_of_convolution(
    data: tuple[int, ...], weight: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=data), rng.normal(size=weight)
    y = naive_convolution(x, w, attrs)
    head = rng.normal(size=y.shape)
    filters = data[1]
    back = mx.nd.Deconvolution(
        double(head),
        double(w),
        num_filter=filters,
        target_shape=data[2:],
        **{name: value for name, value in attrs.items() if name != "pad"},
    )
    if not any(attrs.get("pad", (0,))):
        assert (back.asnumpy() * x).sum() == pytest.approx((head * y).sum())
    gradient = double(x)
    gradient.attach_grad()
    with mx.autograd.record():
        out = mx.nd.Convolution(gradient, double(w), no_bias=True, num_filter=weight[0], **attrs)
    out.backward(double(head))
    assert (gradient.grad.asnumpy() * x).sum() == pytest.approx((head * y).sum())


@pytest.mark.parametrize("attrs", POOLS)
@pytest.mark.parametrize("kind", ["max", "avg", "sum"])
def test_pooling_is_its_definition(kind: str, attrs: dict[str, Any]) -> None:
    x = np.random.default_rng(2).normal(size=(2, 3, 7, 6))
    found = mx.nd.Pooling(double(x), pool_type=kind, **attrs).asnumpy()
    kernel, stride, pad = (_window(attrs, n, 2, d) for n, d in (("kernel", 1), ("stride", 1), ("pad", 0)))
    rounding = np.ceil if attrs.get("pooling_convention") == "full" else np.floor
    for axis in range(2):
        room = (x.shape[2 + axis] + 2 * pad[axis] - kernel[axis]) / stride[axis]
        assert found.shape[2 + axis] == rounding(room) + 1
    for i, j in itertools.product(*map(range, found.shape[2:])):
        spans = [
            (p * s - q, min(p * s - q + k, n + q)) for p, s, q, k, n in zip((i, j), stride, pad, kernel, x.shape[2:])
        ]
        inner = [slice(max(low, 0), min(high, n)) for (low, high), n in zip(spans, x.shape[2:])]
        cell = x[:, :, inner[0], inner[1]]
        count = cell.shape[2] * cell.shape[3]
        if attrs.get("count_include_pad", True):
            count = (spans[0][1] - spans[0][0]) * (spans[1][1] - spans[1][0])
        expected = {"max": cell.max((2, 3)), "sum": cell.sum((2, 3)), "avg": cell.sum((2, 3)) / count}[kind]
        np.testing.assert_allclose(found[:, :, i, j], expected, rtol=1e-9)


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    x = double(np.zeros((1, 1, 3, 3)))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Pooling(x, kernel=(2, 2))
    y.backward(double([[[[1, 2], [3, 4]]]]))
    assert x.grad.asnumpy()[0, 0].tolist() == [[1, 2, 0], [3, 4, 0], [0, 0, 0]]


def test_channels_last_is_refused_with_the_way_out() -> None:
    data, weight = mx.nd.zeros((1, 4, 4, 2)), mx.nd.zeros((3, 2, 2, 2))
    with pytest.raises(mx.MXNetError, match="use NCHW: transpose data and weight"):
        mx.nd.Convolution(data, weight, no_bias=True, kernel=(2, 2), num_filter=3, layout="NHWC")
