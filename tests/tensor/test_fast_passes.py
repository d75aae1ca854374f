"""Fast ways of kernels against the plain ones they stand for: LSTM layers, depthwise convolution, dense layers."""

from __future__ import annotations

import numpy as np
import pytest

from autohybrid import nd
from autohybrid.tensor import lstm_forward, recurrence


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("steps", "batch", "width", "hidden", "layers", "directions"),
    [(3, 2, 5, 4, 2, 2), (5, 3, 7, 256, 2, 1), (4, 1, 8, 128, 1, 2), (2, 70, 8, 256, 1, 1), (1, 4, 3, 384, 3, 2)],
)
def test_lstm_layers_are_those_of_the_recurrence(
    steps: int, batch: int, width: int, hidden: int, layers: int, directions: int, dtype: str
) -> None:
    network = recurrence.Network("lstm", layers, directions, width, hidden, 0)
    state = np.random.RandomState(0)

    def draw(*shape: int) -> np.ndarray:
        return state.uniform(-0.3, 0.3, shape).astype(dtype)

    cells = layers * directions
    arrays = draw(steps, batch, width), draw(network.size), draw(cells, batch, hidden), draw(cells, batch, hidden)
    before = [a.copy() for a in arrays]
    masks = draw(layers - 1, steps, batch, hidden * directions) if layers > 1 else None
    expected = recurrence.forward(np, network, *arrays, None, masks)[:3]
    got = lstm_forward.forward(np, network, *arrays, masks)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    for a, b in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("spatial", "kernel", "stride", "dilate", "pad"),
    [
        ((9, 11), (3, 3), (1, 1), (1, 1), (1, 1)),
        ((9, 11), (3, 2), (2, 1), (1, 1), (0, 2)),
        ((90, 81), (5, 3), (1, 1), (2, 3), (4, 1)),
        ((12,), (3,), (1,), (2,), (0,)),
        ((12,), (4,), (3,), (1,), (2,)),
        ((5, 6, 7), (2, 3, 2), (1, 1, 1), (1, 1, 2), (1, 0, 1)),
        ((5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 1), (0, 1, 1)),
        ((1, 1), (1, 1), (1, 1), (1, 1), (0, 0)),
    ],
)
def test_depthwise_convolution_is_one_convolution_a_channel(
    spatial: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], dilate: tuple[int, ...],
    pad: tuple[int, ...], dtype: str,
) -> None:  # fmt: skip
    channels, state = 13, np.random.RandomState(1)
    x = nd.array(state.uniform(-1, 1, (2, channels, *spatial)), dtype=dtype)
    w = nd.array(state.uniform(-1, 1, (channels, 1, *kernel)), dtype=dtype)
    geometry = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "no_bias": True}
    got = nd.Convolution(x, w, num_filter=channels, num_group=channels, **geometry)
    parts = [nd.Convolution(x[:, c : c + 1], w[c : c + 1], num_filter=1, **geometry).asnumpy() for c in range(channels)]
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(got.asnumpy(), np.concatenate(parts, axis=1), rtol=tolerance, atol=tolerance)


def test_dense_layers_over_more_axes_are_one_product() -> None:
    x, w, b = (nd.random.uniform(shape=s) for s in ((2, 3, 4, 5), (6, 5), (6,)))
    got = nd.FullyConnected(x, w, b, num_hidden=6, flatten=False).asnumpy()
    np.testing.assert_allclose(got, x.asnumpy() @ w.asnumpy().T + b.asnumpy(), rtol=1e-5)
