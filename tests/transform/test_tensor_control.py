"""Branches and loops that tensors decide: what a side assigns, sets, counts and returns is what Python would."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import HybridBlock

INPUTS = ([1.0, 2, 3], [-1.0, -2, 1], [4.0, 5, 6], [1.0, 1, 1])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        yield


class ReturnInWhile(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        while x.sum() < 50:
            x = x * 1.5
            if x.max() > 6:
                return x * 0, [x, 2]
        return x, [x * 3, 2]


class TupleInFor(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        for k in range(3):
            if x.sum() > 20:
                return x, [x * 2, x * k]
            x = x * 2
        return x * 3, [x, x - 1]


class NumberIsRebound(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        n = 0
        if x.sum() > 0:
            n += 1
        m = n
        n += 1
        n *= 2
        return x * m, x * n, x + n / 4


class NumberInFloat64(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        n, x = 0, x.astype("float64")
        if x.sum() > 0:
            n += 1
        return x * n


class NumberDecides(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        n = -1
        if x.sum() > 2:
            n = 1
        if n > 0:
            x = x * 2
        return x + 1


class UnassignedOnOneSide(HybridBlock):
    """Python raises UnboundLocalError where the condition does not hold."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 0:
            t = x * 2
        return t


class UnassignedUntilLater(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 0:
            t, k = x * 2, 3
            x = x + t
        if x.max() > 5:
            x = x - t * k
        t = x
        return t * 2


class UnassignedUntilTheLoop(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = F.abs(x)
        while x.sum() < 50:
            t = x * 2
            x = x + t
            k = 2
        return x + t * k


class OwnNames(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        then_1 = x * 3
        result_1 = x + 1
        signal_1 = x - 1
        for body_1 in range(3):
            if x.sum() > 3:
                break
            x = x + body_1
        if x.sum() > 100:
            x = x * 2
        return x + result_1 * signal_1 + then_1


class Attribute(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        self.memo = x
        if x.sum() > 4:
            self.memo = x * 2
        elif x.max() > 2:
            self.memo = self.memo - 1
        return self.memo + 1


class AssertInWhile(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        while x.sum() < 40:
            assert x.max() < 20
            x = F.abs(x) * 1.5
        return x


class Endless(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        rounds = 0
        while True:
            x = F.abs(x) * 1.5
            if x.sum() > 10:
                break
            rounds += 1
        return x * rounds


class CountedWhile(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        i = 0
        while i < 5:
            x = x * 1.5
            if x.sum() > 10:
                break
            i += 1
        return x * i


class Chained(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        inside = 0
        if -1 < x.sum() <= x.max() * 2 < 7:
            inside = 1
        return (x if 0 <= x.mean() < 3 else -x) * inside + x * (1 < 2 < 3)


BLOCKS = [
    *(ReturnInWhile, TupleInFor, NumberIsRebound, NumberInFloat64, NumberDecides, UnassignedOnOneSide),
    *(UnassignedUntilLater, UnassignedUntilTheLoop, OwnNames, Attribute, AssertInWhile, Endless, CountedWhile, Chained),
]


def outcome(net: Any, values: list[float], record: bool) -> Any:
    x = nd.array(values)
    x.attach_grad()
    try:
        with autograd.record() if record else autograd.pause():
            result = net(x)
            leaves = list(flat(result))
            total = sum((leaf.astype("float32") * (k + 1)).sum() for k, leaf in enumerate(leaves))
    except (UnboundLocalError, AssertionError) as error:
        return type(error)
    if record:
        total.backward()
    return [leaf.asnumpy() for leaf in leaves] + [x.grad.asnumpy()]


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    elif isinstance(value, nd.NDArray):
        yield value


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.__name__)
def test_hybridized_gives_what_python_gives(block: type[HybridBlock], record: bool) -> None:
    net = block()
    net.hybridize()
    for values in INPUTS * 2:
        expected, found = outcome(block(), values, record), outcome(net, values, record)
        if isinstance(expected, type):
            assert found is expected
            continue
        assert len(found) == len(expected)
        for a, b in zip(expected, found):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


class ReturnedNumber(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        n = 0
        if x.sum() > 0:
            n += 1
        return n * 2


class HiddenAppend(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        rows = [x]

        def add(value):  # type: ignore[no-untyped-def]
            rows.append(value)

        if x.sum() > 5:
            add(x * 2)
        return sum(rows)


class HeldList(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rows: list[int] = []

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 5:
            self.rows.append(1)
        return x * len(self.rows)


class NestedList(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        table = {"rows": [x]}
        if x.sum() > 5:
            table["rows"].append(x * 2)
        return sum(table["rows"])


class Record:
    def __init__(self) -> None:
        self.value: Any = 0


class HeldObject(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.record = Record()

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 5:
            self.record.value = 3
        return x * self.record.value


class NewAttribute(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 5:
            self.fresh = x
        return x


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (ReturnedNumber, "a Python number"),
        (HiddenAppend, "changes a list"),
        (HeldList, "changes a list"),
        (NestedList, "changes a list"),
        (HeldObject, "changes a Record"),
        (NewAttribute, "attribute `fresh`"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_only_one_side_may_change_is_refused(block: type[HybridBlock], message: str) -> None:
    net = block()
    net.hybridize(fallback=False)
    with pytest.raises(mx.HybridizeError, match=message):
        net(nd.array([1.0, 1]))
