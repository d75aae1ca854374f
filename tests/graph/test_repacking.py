"""Nets whose weights are written before every call: when packed weights are given up, and when they come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid.gluon import nn
from autohybrid.graph import repacking
from autohybrid.graph.repacking import RepackedCall

PATIENCE = repacking._PATIENCE


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOHYBRID_THREADS", "1")


def deep_net(channels: int = 64) -> Any:
    """Convolutions with many weights for a small image."""
    net = nn.HybridSequential()
    for _ in range(2):
        net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.GlobalAvgPool2D())
    net.initialize(mx.init.Xavier())
    return net


def executor(net: Any) -> Any:
    (entry,) = net._compiled.entries.values()
    (code,) = entry.function._code.values()
    return code


def prepared(size: int = 8, batch: int = 1) -> tuple[Any, Any]:
    """A hybridized net that was called once, and its input."""
    net, x = deep_net(), mx.nd.random.uniform(-1, 1, shape=(batch, 64, size, size))
    net.hybridize()
    net(x)
    return net, x


def scale_weights(net: Any, factor: float) -> None:
    for name, parameter in net.collect_params().items():
        if name.endswith("weight"):
            parameter.set_data(parameter.data() * factor)


def check(net: Any, x: Any) -> None:
    """The result of a call is the imperative block's with the weights of now."""
    result = net(x).asnumpy()
    expected = x
    for layer in net._children.values():
        expected = layer(expected)
    expected = expected.asnumpy()
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


def test_packed_weights_are_given_up_after_some_calls_in_vain_and_come_back() -> None:
    net, x = prepared()
    code = executor(net)
    assert isinstance(code, RepackedCall)
    seen = []
    for turn in range(PATIENCE + 2):
        scale_weights(net, 1.0 + turn / 100)
        check(net, x)
        seen.append(code._is_plain)
    assert seen[0] is False and seen[-2:] == [True, True]
    scale_weights(net, 0.5)
    for _ in range(PATIENCE + 1):
        check(net, x)
    assert not code._is_plain
    check(net, x)


def test_a_call_between_the_writes_keeps_packed_weights() -> None:
    net, x = prepared()
    for _ in range(2 * PATIENCE):
        scale_weights(net, 1.01)
        check(net, x)
        check(net, x)
    assert not executor(net)._is_plain


def test_writes_into_small_parameters_keep_packed_weights() -> None:
    net, x = prepared()
    for turn in range(2 * PATIENCE):
        net[1].beta.set_data(mx.nd.full((64,), turn / 10))
        check(net, x)
    assert not executor(net)._is_plain


def test_other_arrays_may_be_written_without_effect() -> None:
    net, x = prepared()
    net(x)
    for _ in range(2 * PATIENCE):
        x[:] = x + 0.1
        check(net, x)
    assert not executor(net)._is_plain


def test_large_images_and_batches_always_pack() -> None:
    net, _ = prepared(size=56, batch=4)
    assert not isinstance(executor(net), RepackedCall)


def test_a_profile_shows_the_packed_executor() -> None:
    net, x = prepared()
    assert "_channels_last_convolution" in str(net.profile(x, calls=1))


def test_the_results_without_packed_weights_are_those_of_an_exact_call() -> None:
    net, x = prepared()
    for _ in range(PATIENCE + 2):
        scale_weights(net, 1.01)
        result = net(x).asnumpy()
    assert executor(net)._is_plain
    net.hybridize(exact=True)
    np.testing.assert_allclose(result, net(x).asnumpy(), rtol=1e-6, atol=1e-6)
