"""Memory that generated code keeps between calls: never in results, one set a thread, small."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.gluon import nn


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are compared bit for bit."""
    monkeypatch.setenv("AUTOHYBRID_EXACT", "1")


def residual_net() -> Any:
    """Convolutions of every kind, shortcuts, pooling and a dense end."""

    class Net(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.stem = nn.Conv2D(16, 3, padding=1, use_bias=False)
                self.wide = nn.Conv2D(32, 1)
                self.deep = nn.Conv2D(32, 3, strides=1, padding=1, groups=32)
                self.grouped = nn.Conv2D(32, 3, padding=1, groups=4)
                self.norm, self.again = nn.BatchNorm(), nn.BatchNorm()
                self.pool = nn.MaxPool2D(2)
                self.end = nn.Dense(7)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x = F.relu(self.norm(self.wide(self.stem(x))))
            y = F.clip(self.again(self.deep(x)), 0, 6)
            z = self.grouped(y) + x
            return [self.end(self.pool(z)), z, F.reshape(y, (0, -1)), F.LeakyReLU(z, act_type="gelu")]

    net = Net()
    net.initialize(mx.init.Uniform(0.3))
    return net


def images(seed: int, batch: int = 2) -> Any:
    """A batch of images."""
    return nd.array(np.random.RandomState(seed).uniform(-1, 1, (batch, 3, 40, 42)).astype("float32"))


def values(results: Any) -> list[Any]:
    """The results as NumPy arrays."""
    return [r.asnumpy() for r in results]


@pytest.mark.parametrize("batch", [1, 2])
def test_results_are_those_of_imperative_calls_and_outlive_later_calls(batch: int) -> None:
    net = residual_net()
    expected = [values(net(images(seed, batch))) for seed in range(3)]
    net.hybridize()
    kept = [net(images(seed, batch)) for seed in (0, 1, 2, 1)]
    for results, wanted in zip(kept, [*expected, expected[1]]):
        for a, b in zip(values(results), wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    code = next(iter(next(iter(net._compiled.entries.values())).function._code.values()))
    assert "kept.pop()" in code.source  # type: ignore[attr-defined]


def test_calls_from_several_threads_have_memory_of_their_own() -> None:
    net = residual_net()
    expected = [values(net(images(seed))) for seed in range(4)]
    net.hybridize()
    net(images(0))
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = images(seed)
        for _ in range(10):
            if not all(np.array_equal(a, b) for a, b in zip(values(net(x)), expected[seed])):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_deep_chain_needs_few_buffers() -> None:
    net = nn.HybridSequential()
    for _ in range(30):
        net.add(nn.Dense(128, flatten=False, activation="tanh"))
    net.initialize()
    x = nd.ones((512, 128))
    net(x)
    net.hybridize()
    expected = net(x).asnumpy()
    np.testing.assert_array_equal(net(x).asnumpy(), expected)
    code: Any = next(iter(next(iter(net._compiled.entries.values())).function._code.values()))
    arrays = code.__globals__["make_memory"]()
    roots = {id(a.base.base if a.base.base is not None else a.base): a.base for a in arrays}
    assert sum(base.nbytes for base in roots.values()) <= 2 * (512 * 128 * 4 + 4096)  # each begins somewhere in a page


def test_arrays_that_a_custom_operator_keeps_stay_as_they_are() -> None:
    seen: list[Any] = []

    class Keep(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            seen.append(in_data[0])
            self.assign(out_data[0], req[0], in_data[0] * 2)

    @mx.operator.register("keep_what_it_sees")
    class KeepProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Keep()

    class Net(nn.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.Custom(F.exp(x), op_type="keep_what_it_sees") + 1

    net = Net()
    net.hybridize()
    for value in (0.0, 1.0):
        net(nd.full((64, 512), value)).wait_to_read()
    assert len(seen) >= 2
    assert seen[-2].asnumpy().max() == 1.0
