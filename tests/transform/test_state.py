"""A compiled block follows what its Python code depends on: attributes, containers, globals, randomness, hooks."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import Block, HybridBlock, nn

FACTOR = 2.0
CALLS: list[int] = []


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        yield


class Plain(HybridBlock):
    """Reads an attribute, a list and a global."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = 1.0
        self.offsets = [0.0]

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        for offset in self.offsets:
            x = x + offset
        return x * self.scale * FACTOR


def value(net: Any) -> float:
    """The block's result on a one, after calls enough for the shortest way to be taken."""
    for _ in range(3):
        result = net(nd.ones((1,)))
    return float(result.asscalar())


def test_attribute_set_after_hybridize_counts() -> None:
    net = Plain()
    net.hybridize()
    assert value(net) == 2
    net.scale = 3.0
    assert value(net) == 6


def test_list_changed_in_place_counts() -> None:
    net = Plain()
    net.hybridize()
    assert value(net) == 2
    net.offsets.append(1.0)
    assert value(net) == 4


class Names(HybridBlock):
    """Reads a set, and lists in a dict."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names = {"a"}
        self.table = {"rows": [1.0]}

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * len(self.names) + sum(self.table["rows"])


def test_set_and_nested_list_changed_in_place_count() -> None:
    net = Names()
    net.hybridize()
    assert value(net) == 2
    net.names.add("b")
    assert value(net) == 3
    net.table["rows"].append(2.0)
    assert value(net) == 5


def test_global_changed_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Plain()
    net.hybridize()
    assert value(net) == 2
    monkeypatch.setitem(Plain.hybrid_forward.__globals__, "FACTOR", 5.0)
    assert value(net) == 5


def test_parameter_written_or_cast_counts() -> None:
    net = nn.Dense(1, in_units=1, use_bias=False, weight_initializer="ones")
    net.initialize()
    net.hybridize()
    x = nd.ones((1, 1))
    assert [net(x).asscalar() for _ in range(3)] == [1, 1, 1]
    net.weight.set_data(nd.ones((1, 1)) * 4)
    assert net(x).asscalar() == 4
    net.weight.data()[:] = 5
    assert net(x).asscalar() == 5
    net.cast("float64")
    assert net(x.astype("float64")).dtype == np.float64


class Counter(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.calls = 0

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        self.calls += 1
        return x * self.calls


def test_counter_counts_every_call() -> None:
    net = Counter()
    net.hybridize()
    assert [float(net(nd.ones((1,))).asscalar()) for _ in range(4)] == [1, 2, 3, 4]


class Remembering(HybridBlock):
    """Sets an attribute to a tensor, and reads it at the next call."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.last = None

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = x if self.last is None else x + self.last
        self.last = y
        return y * 1


def test_attribute_set_to_a_tensor_holds_its_value() -> None:
    net = Remembering()
    net.hybridize()
    assert [float(net(nd.ones((1,))).asscalar()) for _ in range(3)] == [1, 2, 3]
    assert isinstance(net.last, nd.NDArray)
    assert net.last.asscalar() == 3


class Drawing(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * random.random()


def test_python_randomness_is_drawn_at_every_call() -> None:
    drawn = []
    for hybrid in (False, True):
        net = Drawing()
        if hybrid:
            net.hybridize()
        random.seed(7)
        drawn.append([float(net(nd.ones((1,))).asscalar()) for _ in range(4)])
    assert drawn[0] == drawn[1]


def test_hooks_of_children_fire_at_every_call() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(1, in_units=1), nn.Dense(1, in_units=1))
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 1)))
    seen: list[int] = []
    handle = net[0].register_forward_hook(lambda block, inputs, output: seen.append(1))
    net(nd.ones((1, 1)))
    net(nd.ones((1, 1)))
    assert len(seen) == 2
    handle.detach()
    net(nd.ones((1, 1)))
    assert len(seen) == 2


class Halves(Block):
    """A plain block: MXNet refuses it as a child."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        return x / 2 if x.sum() > 0 else x


class Parent(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.halves = Halves()

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return self.halves(x) + 1


@pytest.mark.parametrize("sign", [1, -1])
def test_plain_child_is_part_of_the_graph(sign: int) -> None:
    net = Parent()
    x = nd.array([2.0]) * sign
    expected = net(x).asscalar()
    net.hybridize()
    assert net(x).asscalar() == expected
    assert net._compiled.entries


class InPlace(HybridBlock):
    """Writes into its argument and into a view."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x[0] = 5
        row = x[1]
        row += 1
        return x * 1


def test_writes_reach_the_argument() -> None:
    results = []
    for hybrid in (False, True):
        net, x = InPlace(), nd.zeros((2, 2))
        if hybrid:
            net.hybridize()
        results.append((net(x).asnumpy(), x.asnumpy()))
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(results[1][1], [[5, 5], [1, 1]])


def test_write_is_refused_while_recording_as_imperatively() -> None:
    for hybrid in (False, True):
        net, x = InPlace(), nd.zeros((2, 2))
        x.attach_grad()
        if hybrid:
            net.hybridize()
        with autograd.record(), pytest.raises(mx.MXNetError, match="Inplace operations"):
            net(x)


def test_structure_of_results_is_kept() -> None:
    class Structured(HybridBlock):
        def hybrid_forward(self, F, x, extra=None):  # type: ignore[no-untyped-def]
            return {"a": x, "b": (x + 1, None, 3)} if extra is None else [x, extra]

    net = Structured()
    net.hybridize()
    x = nd.ones((1,))
    first = net(x)
    assert list(first) == ["a", "b"]
    assert isinstance(first["b"], tuple)
    assert first["b"][1:] == (None, 3)
    assert [v.asscalar() for v in net(x, x * 2)] == [1, 2]
    assert net(x)["b"][0].asscalar() == 2


class Array(HybridBlock):
    """Holds an array, which is no container of settings."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.table = nd.array([1, 2, 3])

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x + self.table


def test_captured_array_is_read_at_every_call() -> None:
    net = Array()
    net.hybridize()
    x = nd.zeros((3,))
    assert [net(x).sum().asscalar() for _ in range(3)] == [6, 6, 6]
    net.table[0] = 10
    assert net(x).sum().asscalar() == 15


class Chosen(HybridBlock):
    """What stands behind a branch on a tensor knows its shape."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 100:
            x = x * 2
        return F.squeeze(F.relu(x), axis=2)


class Repeated(HybridBlock):
    """What stands behind a loop on a tensor knows its shape."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        while x.sum() < 100:
            x = x * 2
        return F.squeeze(F.relu(x), axis=2)


@pytest.mark.parametrize("block", [Chosen, Repeated])
def test_a_graph_with_a_branch_or_loop_serves_every_shape(block: type[HybridBlock]) -> None:
    net, plain = block(), block()
    net.hybridize()
    for shape in [(3, 2, 1), (2, 3, 1), (5, 2, 1), (3, 2, 1)]:
        x = nd.ones(shape)
        assert net(x).shape == shape[:2]
        assert (net(x).asnumpy() == plain(x).asnumpy()).all()
