"""`hybridize(verify=True)` passes blocks that agree and names the first result that differs in one that does not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, nd
from autohybrid.gluon import HybridBlock, nn
from autohybrid.tensor.ops import get_operator


class Noisy(HybridBlock):
    """Random numbers, a branch on a tensor, normalisation: all must agree."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.norm = nn.BatchNorm()
        self.drop = nn.Dropout(0.5)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = self.drop(self.norm(x)) + F.random.uniform(0, 1, shape=(2, 3))
        if y.sum() > 0:
            y = y * 2
        return y


def make(options: dict[str, bool]) -> Noisy:
    net = Noisy()
    net.initialize()
    net.hybridize(**options)
    return net


@pytest.mark.parametrize("record", [False, True])
def test_agreeing_block_gives_what_it_gives_without_verify(record: bool) -> None:
    results = []
    for verify in (False, True):
        net = make({"verify": verify})
        mx.random.seed(3)
        x = nd.array([[1, 2, 3], [4, -5, 6]])
        x.attach_grad()
        with warnings.catch_warnings(), autograd.record() if record else autograd.pause():
            warnings.simplefilter("ignore", mx.HybridizeWarning)
            out = net(x)
        if record:
            out.backward()
        results.append([out.asnumpy(), x.grad.asnumpy(), net.norm.running_mean.data().asnumpy()])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_difference_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    relu = get_operator("relu")
    monkeypatch.setitem(relu.__dict__, "fast", lambda call: [f"{call.out} = {call.inputs[0]} * 3"])

    class Wrong(HybridBlock):
        def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
            return F.relu(x)

    net = Wrong()
    net.hybridize(verify=True)
    with pytest.raises(mx.HybridizeError, match=r"output 0 \(node `relu0`\) .* differs"):
        net(nd.array([1, 2]))
