"""What other compilers of eager code refuse or get wrong: here each is lowered exactly and reported, or refused.

Every block is called imperatively and hybridized with several signatures; the finding that hybridize() reports is
named, since MXNet would not hybridize the block.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import Block, HybridBlock, nn

SIGNATURES = [((2, 3), "float32"), ((4, 6), "float32"), ((2, 3), "float64"), ((2, 3), "float32")]


class ShapeArithmetic(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        rows, columns = x.shape
        return x.reshape((rows * columns // 3, 3)) / (x.size + len(x) - x.ndim)


class DtypeBranch(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * 2 if x.dtype == np.float64 else x * 3


class OnContext(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x.as_in_context(x.context) + F.ones((1, 1), ctx=x.context, dtype=x.dtype)


class ItemAssignment(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = nd.zeros(x.shape, dtype=x.dtype)
        y[0] = 1
        y[:, 1:] = 3
        y[1, 2] = 7
        return y + x


class InPlace(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = nd.ones(x.shape, dtype=x.dtype)
        alias, row = y, y[1]
        y += 2
        row *= 3
        return x * alias


class Slices(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x[:, ::2] * x[0:1, -1:] + x[-1, 0] + x[::-1, :1]


class Printing(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        print("seen")
        return x + 1


class TwoReturns(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        if x.sum() > 0:
            return x * 2
        return F.exp(x)


class TensorWhile(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        x = F.abs(x)
        while x.sum() < 100:
            x = x * 1.5
        return x


class Iterates(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        total = 0
        for row in x:
            total = total + row * row
        return total


class ScalarStays(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        largest = x.max().asscalar()
        return x / 10 if largest > 1 else x


class AppendsToAList(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        parts = []
        for k in range(3):
            parts.append(x * k)
        return F.concat(*parts, dim=0)


class Counts(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.calls = 0

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        self.calls += 1
        return x * self.calls


class Halve(Block):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return x / 2 if x.mean() > 0 else x


class PlainChild(HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.halve = Halve()
        self.norm = nn.LayerNorm()

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return self.halve(x) * 3


CASES: list[tuple[type[HybridBlock], str | None]] = [
    (ShapeArithmetic, "AH101"),
    (DtypeBranch, "AH102"),
    (OnContext, "AH103"),
    (ItemAssignment, "AH704"),
    (InPlace, "AH704"),
    (Slices, "AH104"),
    (Printing, "AH301"),
    (TwoReturns, "AH401"),
    (TensorWhile, "AH402"),
    (Iterates, "AH501"),
    (ScalarStays, "AH201"),
    (AppendsToAList, None),
    (Counts, "AH302"),
    (PlainChild, "AH401"),
]


def run(net: Any, shape: tuple[int, ...], dtype: str, seed: int, record: bool) -> list[Any]:
    x = nd.array(np.random.RandomState(seed).uniform(-1, 2, shape), dtype=dtype)
    if not record:
        return [net(x).asnumpy()]
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    return [y.asnumpy(), x.grad.asnumpy()]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize(("block", "code"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_it_compiles_and_is_right(block: type[HybridBlock], code: str | None, record: bool) -> None:
    plain, hybrid = block(), block()
    for net in (plain, hybrid):
        net.initialize()
    hybrid.hybridize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for seed, (shape, dtype) in enumerate(SIGNATURES):
            for a, b in zip(run(plain, shape, dtype, seed, record), run(hybrid, shape, dtype, seed, record)):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-5)
    reported = "".join(str(w.message) for w in caught if issubclass(w.category, mx.HybridizeWarning))
    assert (code or "AH") in reported if code else not reported


class HostValue(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        count = int(x.sum().asscalar())
        for _ in range(count):
            x = x + 1
        return x


class OnNumPy(HybridBlock):
    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        return x * float(np.median(x.asnumpy()))


@pytest.mark.parametrize(("block", "line"), [(HostValue, "int(x.sum()"), (OnNumPy, "np.median(x")])
def test_a_host_value_is_refused_with_its_place(block: type[HybridBlock], line: str) -> None:
    net = block()
    net.hybridize(fallback=False)
    with pytest.raises(mx.HybridizeError) as raised:
        net(nd.ones((2, 2)))
    with open(__file__, encoding="utf-8") as stream:
        number = next(i for i, text in enumerate(stream, 1) if line in text)
    assert f"{__file__}:{number}:" in str(raised.value)
    assert "AH20" in str(raised.value)
