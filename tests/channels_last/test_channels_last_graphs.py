"""Convolutional nets as they run with the channels last, against the same blocks run imperatively."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import nn
from autohybrid.graph.function import GraphFunction

#: Results may differ by this much of the largest number: Winograd's algorithm and sums in another order.
TOLERANCE = 3e-5


class Net(nn.HybridSequential):
    """Layers behind each other, each with parameters drawn from a seed."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.add(*layers)


def images(*shape: int, seed: int = 0) -> Any:
    """Data of a normal distribution."""
    return nd.array(np.random.RandomState(seed).standard_normal(shape).astype("float32"))


def fill(net: Any, seed: int = 1) -> None:
    """Parameters that keep values near one; no two alike."""
    state = np.random.RandomState(seed)
    for parameter in net.collect_params().values():
        width = int(np.prod(parameter.shape[1:])) if len(parameter.shape) > 1 else 1
        low = 0.5 if parameter.name.endswith(("gamma", "var")) else -1.0
        values = state.uniform(low, 1.5, parameter.shape) / np.sqrt(width)
        parameter.set_data(nd.array(values.astype("float32")))


def prepared(net: Any, x: Any) -> Any:
    """The net with its parameters."""
    net.initialize()
    net(x)
    fill(net)
    return net


def leaves(result: Any) -> list[Any]:
    """The results as NumPy arrays."""
    return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


def assert_close(results: Any, expected: Any) -> None:
    """Within the tolerance of the largest number, and laid out as ever."""
    for result, other in zip(leaves(results), leaves(expected), strict=True):
        assert result.shape == other.shape and result.dtype == other.dtype
        np.testing.assert_allclose(result, other, rtol=0, atol=TOLERANCE * max(1.0, np.abs(other).max()))


def source_of(net: Any) -> str:
    """The generated code of the graphs that read the parameters of `net`."""
    names = set(net.collect_params())
    functions = [o for o in gc.get_objects() if isinstance(o, GraphFunction) and names & set(o.captured)]
    return "\n".join(str(code.source) for f in functions for code in f._code.values())  # type: ignore[attr-defined]


def compared(make: Callable[[], Any], *shape: int) -> Any:
    """The hybridized net; its results at two inputs, and after its parameters changed, are those of the plain net."""
    x = images(*shape)
    net = prepared(make(), x)
    first = net(x)
    net.hybridize()
    assert_close(net(x), first)
    again = images(*shape, seed=5)
    got = net(again)
    kept = [r.copy() for r in leaves(got)]
    fill(net, seed=9)
    changed = net(x)
    for result, before in zip(leaves(got), kept):
        np.testing.assert_array_equal(result, before)
    net.hybridize(False)
    assert_close(changed, net(x))
    net.hybridize()
    return net


class Residual(nn.HybridBlock):
    """Two convolutions and the data, or a third one of it, added."""

    def __init__(self, channels: int, stride: int, project: bool, before: bool = False) -> None:
        super().__init__()
        self.before = before
        self.body = Net(
            nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
            nn.Conv2D(channels, 3, 1, 1), nn.BatchNorm(scale=False),
        )  # fmt: skip
        self.project = Net(nn.Conv2D(channels, 1, stride), nn.BatchNorm()) if project else None
        self.norm = nn.BatchNorm() if before else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        if self.norm is not None:
            x = F.relu(self.norm(x))
        shortcut = x if self.project is None else self.project(x)
        return F.Activation(self.body(x) + shortcut, act_type="relu")


class Branches(nn.HybridBlock):
    """Several kernels over the same data, joined; several results."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.three, self.five = nn.Conv2D(12, 1), nn.Conv2D(40, 3, padding=1), nn.Conv2D(8, 5, padding=2)
        self.gate = Net(nn.GlobalAvgPool2D(), nn.Conv2D(6, 1, activation="relu"), nn.Conv2D(60, 1))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        parts = [F.LeakyReLU(self.one(x), slope=0.1), F.relu(self.three(x)), F.clip(self.five(x), 0, 6)]
        joined = F.concat(*parts, F.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type="avg"), dim=1)
        gated = F.broadcast_mul(F.slice_axis(joined, axis=1, begin=0, end=60), F.sigmoid(self.gate(joined)))
        return [gated, joined, parts[1] * 2.0 + 1.0, F.tanh(parts[0])]


def inverted() -> Any:
    """Expanded, depthwise, projected, as in MobileNetV2."""
    return Net(
        nn.Conv2D(48, 1, use_bias=False), nn.BatchNorm(), nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)),
        nn.Conv2D(48, 3, 2, 1, groups=48, use_bias=False), nn.BatchNorm(), nn.Activation("relu"),
        nn.Conv2D(48, 3, 1, 1, groups=48), nn.Swish(), nn.Conv2D(16, 1), nn.GlobalMaxPool2D(), nn.Flatten(),
    )  # fmt: skip


NETS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "stem": (lambda: Net(nn.Conv2D(16, 7, 2, 3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1)),
             (2, 3, 37, 30)),
    "lenet": (lambda: Net(nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="tanh"),
                          nn.AvgPool2D(2, 2), nn.Dense(10)), (3, 1, 28, 28)),
    "basic": (lambda: Residual(32, 1, False), (2, 32, 13, 14)),
    "down": (lambda: Net(Residual(64, 2, True), Residual(64, 1, False)), (1, 32, 15, 17)),
    "before": (lambda: Net(Residual(40, 1, True, before=True), nn.BatchNorm()), (2, 8, 12, 9)),
    "branches": (Branches, (2, 64, 11, 12)),
    "inverted": (inverted, (2, 16, 19, 18)),
    "grouped": (lambda: Net(nn.Conv2D(96, 3, 1, 2, 2, groups=4), nn.BatchNorm(), nn.Conv2D(18, (3, 2), groups=3)),
                (2, 32, 13, 12)),
    "prelu": (lambda: Net(nn.Conv2D(32, 3), nn.PReLU(), nn.Conv2D(32, 3), nn.ELU(), nn.Conv2D(4, 1)), (1, 32, 12, 12)),
    "ceil": (lambda: Net(nn.Conv2D(32, 3), nn.MaxPool2D(3, 2, ceil_mode=True), nn.Conv2D(32, 3, padding=1),
                         nn.AvgPool2D(3, 2, 1, count_include_pad=False)), (2, 32, 19, 18)),
    "multiplied": (lambda: Net(nn.Conv2D(32, 3, groups=16), nn.Conv2D(32, 3)), (1, 16, 12, 12)),
}  # fmt: skip


@pytest.mark.parametrize("name", NETS)
def test_a_net_gives_the_same_with_the_channels_last(name: str) -> None:
    make, shape = NETS[name]
    net = compared(make, *shape)
    net(images(*shape))
    assert any(word in source_of(net) for word in ("columns", "winograd", "depthwise"))


@pytest.mark.parametrize("batch", [1, 2, 5, 9])
def test_one_net_serves_every_batch(batch: int) -> None:
    compared(lambda: Net(Residual(64, 1, True), nn.MaxPool2D(2, 2), Residual(32, 2, True), nn.Flatten()),
             batch, 3, 20, 18)  # fmt: skip


def test_exact_nets_stay_as_they_are() -> None:
    """Bit for bit: nothing is folded, packed or moved."""
    make, shape = NETS["down"]
    x = images(*shape)
    net = prepared(make(), x)
    expected = net(x).asnumpy()
    net.hybridize(exact=True)
    np.testing.assert_array_equal(net(x).asnumpy(), expected)


def test_activation_gives_zero_for_nan_and_relu_keeps_it() -> None:
    """As the operators do by themselves, also where the maximum is taken first."""
    x = images(1, 4, 16, 16)
    x[0, 0, 3, 3] = np.nan

    class Rectified(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2D(8, 1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            kept = F.relu(self.conv(x))
            lost = F.Activation(self.conv(x), act_type="relu")
            pooled = F.Pooling(F.Activation(self.conv(x), act_type="relu"), kernel=(2, 2), stride=(2, 2))
            return [kept, lost, pooled, F.Pooling(kept, kernel=(2, 2), stride=(2, 2))]

    net = prepared(Rectified(), x)
    expected = leaves(net(x))
    net.hybridize()
    results = leaves(net(x))
    assert [bool(np.isnan(r).any()) for r in expected] == [True, False, False, True]
    for result, other in zip(results, expected):
        np.testing.assert_allclose(result, other, rtol=1e-5, atol=1e-5)


def test_values_that_are_used_in_both_layouts_exist_in_both() -> None:
    class Both(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.after = nn.Conv2D(32, 3, padding=1), nn.Conv2D(32, 3, padding=1)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            y = self.conv(x)
            rows = F.reshape(y, shape=(0, 32, -1))
            return [self.after(y), F.sum(rows, axis=2), y, F.transpose(y, axes=(0, 2, 3, 1))]

    compared(Both, 2, 16, 10, 11)


def test_threads_have_their_own_memory() -> None:
    make, shape = NETS["down"]
    net = prepared(make(), images(*shape))
    inputs = [images(*shape, seed=k) for k in range(4)]
    expected = [net(x).asnumpy() for x in inputs]
    net.hybridize()
    net(inputs[0])
    failures: list[str] = []

    def work(k: int) -> None:
        for _ in range(10):
            if not np.allclose(net(inputs[k]).asnumpy(), expected[k], atol=1e-4):
                failures.append(f"thread {k}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_convolution_by_a_computed_weight_stays_as_it_is() -> None:
    class Computed(nn.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:
            return F.Convolution(x, F.relu(w), kernel=(3, 3), num_filter=32, no_bias=True)

    net = Computed()
    x, w = images(1, 32, 12, 12), images(32, 32, 3, 3, seed=2)
    expected = net(x, w).asnumpy()
    net.hybridize()
    np.testing.assert_array_equal(net(x, w).asnumpy(), expected)


def test_moving_statistics_are_followed_and_training_uses_its_own() -> None:
    """After steps of training, the folded scale is the new one; in train mode nothing is folded."""
    x = images(4, 8, 9, 9)
    net = prepared(Net(nn.Conv2D(32, 3, padding=1), nn.BatchNorm(), nn.Activation("relu")), x)
    net.hybridize()
    net(x)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(2):
        with mx.autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
    result = net(x)
    with mx.autograd.train_mode():
        trained = net(x)
    net.hybridize(False)
    assert_close(result, net(x))
    with mx.autograd.train_mode():
        assert_close(trained, net(x))


class AlongAxis(nn.HybridBlock):
    """A function along one axis of what a convolution gives."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.function = function
        self.convolution = nn.Conv2D(33, 3, padding=1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.function(F, self.convolution(x))


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1])
@pytest.mark.parametrize(
    "function",
    [
        lambda F, x, axis: F.softmax(x, axis=axis),
        lambda F, x, axis: F.log_softmax(x, axis=axis),
        lambda F, x, axis: F.sum(x, axis=axis),
        lambda F, x, axis: F.argmax(x, axis=axis),
        lambda F, x, axis: F.slice_axis(x, axis=axis, begin=0, end=-1),
    ],
)
def test_axes_stay_the_block_s_own(function: Callable[..., Any], axis: int) -> None:
    compared(lambda: AlongAxis(lambda F, x: function(F, x, axis)), 2, 32, 6, 8)


@pytest.mark.parametrize("axis", [1, 2, -1])
def test_layer_norm_keeps_its_axis(axis: int) -> None:
    width = (33, 6, 8)[axis - 1 if axis > 0 else 2]
    scale = nd.array(np.linspace(0.5, 1.5, width, dtype="float32"))
    compared(lambda: AlongAxis(lambda F, x: F.LayerNorm(x, scale, scale, axis=axis)), 2, 32, 6, 8)


class Proposals(nn.HybridBlock):
    """Two maps, as rows: the first one is written over before the second one is computed, and read afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(64, 3, padding=1)
        self.scores, self.boxes = nn.Conv2D(64, 1), nn.Conv2D(64, 1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = F.relu(self.first(x))
        scores = F.sigmoid(self.scores(x).transpose((0, 2, 3, 1)).reshape((0, -1, 1)))
        boxes = self.boxes(x).transpose((0, 2, 3, 1)).reshape((0, -1, 1))
        return F.concat(F.sort(scores, axis=1), F.sort(boxes, axis=1) - F.sort(scores, axis=1), dim=2)


def test_what_is_written_over_a_view_keeps_its_memory() -> None:
    compared(Proposals, 1, 64, 32, 40)


def test_a_profile_counts_the_operations_of_the_convolution_as_it_is_defined() -> None:
    """2 x 3 x 3 x 64 for each of 28 x 28 x 32 results; as many as in the layout of the user."""
    net = prepared(Net(nn.Conv2D(32, 3, padding=1, use_bias=False)), images(1, 64, 28, 28))
    net.hybridize()
    steps = net.profile(images(1, 64, 28, 28), calls=1).steps
    flops = {operator: step.flops for step in steps for operator in step.operators}
    assert flops["_channels_last_convolution"] == 28 * 28 * 32 * 2 * 3 * 3 * 64
