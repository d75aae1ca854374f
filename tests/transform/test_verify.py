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
    with pytest.raises(mx.HybridizeError, match=r"output 0 .* differs.*first at `relu` \(node `relu0`\)"):
        net(nd.array([1, 2]))


class Deep(HybridBlock):
    """A value in the middle is wrong where `relu` is: everything after it differs as well."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.dense = nn.Dense(3, in_units=3)

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        y = F.tanh(self.dense(x))
        z = F.relu(y + 1)
        if z.sum() > 0:
            z = F.exp(z)
        return F.sqrt(z) * y, y


def refusal(net: HybridBlock, record: bool = False) -> str:
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize(verify=True)
    x = nd.array([[1, 2, 3], [4, -5, 6]])
    x.attach_grad()
    with warnings.catch_warnings(), autograd.record() if record else autograd.pause():
        warnings.simplefilter("ignore", mx.HybridizeWarning)
        with pytest.raises(mx.HybridizeError) as raised:
            net(x)
    return str(raised.value)


def test_first_call_inside_generated_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    relu = get_operator("relu")
    monkeypatch.setitem(relu.__dict__, "fast", lambda call: [f"{call.out} = {call.inputs[0]} * 3"])
    text = refusal(Deep())
    assert "output 0 of the compiled call differs from the imperative one by up to" in text
    assert "first at `relu` (node `relu0`) at" in text
    assert f"{__file__}:{line_of('F.relu(y + 1)')}:" in text


@pytest.mark.parametrize("record", [False, True])
def test_first_call_of_another_graph_is_named(monkeypatch: pytest.MonkeyPatch, record: bool) -> None:
    """The graph calls another operator than the code does: `exp` with a wrong value, inside a branch."""
    from autohybrid.transform.runtime import Runtime

    monkeypatch.setattr(Runtime, "exp", lambda self, x: nd.exp(x * 1.5), raising=False)
    text = refusal(Deep(), record)
    assert "output 0 of the compiled call differs" in text
    assert "first at `exp`" in text
    assert f"{__file__}:{line_of('z = F.exp(z)')}:" in text


class Paused(HybridBlock):
    """The first wrong value is computed while recording is paused."""

    def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
        with autograd.pause():
            weights = F.exp(F.sin(x))
        return F.relu(weights * x) + weights.sum()


@pytest.mark.parametrize("record", [False, True])
def test_first_call_in_a_pause_is_named(monkeypatch: pytest.MonkeyPatch, record: bool) -> None:
    from autohybrid.transform.runtime import Runtime

    monkeypatch.setattr(Runtime, "sin", lambda self, x: nd.sin(x * 1.5), raising=False)
    text = refusal(Paused(), record)
    assert "first at `sin`" in text
    assert f"{__file__}:{line_of('F.exp(F.sin(x))')}:" in text


def test_first_call_with_another_gradient_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values agree, and the imperative gradient is another one."""
    from autohybrid.transform.runtime import Runtime

    monkeypatch.setattr(Runtime, "tanh", lambda self, x: nd.tanh(x.detach()), raising=False)
    text = refusal(Deep(), True)
    assert "gradient of argument 0" in text


def line_of(code: str) -> int:
    with open(__file__, encoding="utf-8") as stream:
        return next(i for i, line in enumerate(stream, 1) if code in line and "line_of" not in line)
