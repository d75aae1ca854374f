"""Profiles of compiled calls: every node is in a step, arithmetic is counted, the trace can be read."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import pytest

import autohybrid as mx
from autohybrid.gluon import nn


@pytest.fixture
def net() -> nn.HybridSequential:
    made = nn.HybridSequential()
    made.add(nn.Conv2D(4, 3, in_channels=2), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(5))
    made.initialize()
    made.hybridize()
    return made


def test_steps_hold_every_operator_once_and_count_arithmetic(net: nn.HybridSequential) -> None:
    profile = net.profile(mx.nd.ones((1, 2, 6, 6)), calls=2)
    names = [name for step in profile.steps for name in step.names]
    assert len(names) == len(set(names))
    flops = {operator: step.flops for step in profile.steps for operator in step.operators}
    assert flops["Convolution"] == 2 * (4 * 4 * 4) * (2 * 3 * 3)
    assert flops["FullyConnected"] == 2 * 5 * 64
    assert all(step.seconds > 0 for step in profile.steps)
    assert profile.calls == 2 and profile.seconds > 0


def test_the_profiled_run_is_the_executor_itself(net: nn.HybridSequential) -> None:
    x = mx.nd.random.uniform(shape=(1, 2, 6, 6))
    before = net(x).asnumpy()
    net.profile(x, calls=1)
    assert (net(x).asnumpy() == before).all()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_large_chains_are_one_step_of_one_thread(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOHYBRID_THREADS", threads)

    class Chain(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
            return F.tanh(F.exp(x) + 1) * x

    net = Chain()
    net.hybridize()
    profile = net.profile(mx.nd.ones((512, 1024)), calls=1)
    assert [len(step.names) for step in profile.steps] == [4]
    assert profile.steps[0].bytes == 2 * 512 * 1024 * 4  # it reads x and writes the result, nothing between


def test_text_and_trace(net: nn.HybridSequential, tmp_path: Path) -> None:
    profile = net.profile(mx.nd.ones((1, 2, 6, 6)), calls=1)
    text = str(profile)
    assert "Convolution" in text and "1 call" in text
    profile.write_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["ph"] for event in events] == ["X"] * len(profile.steps)
    assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-6 for a, b in itertools.pairwise(events))


def test_rich_shows_a_table(net: nn.HybridSequential) -> None:
    from rich.console import Console

    console = Console(width=160, record=True, file=io.StringIO())
    console.print(net.profile(mx.nd.ones((1, 2, 6, 6)), calls=1))
    assert "Profile of HybridSequential" in console.export_text()


def test_what_cannot_be_profiled_says_why(net: nn.HybridSequential) -> None:
    x = mx.nd.ones((1, 2, 6, 6))
    with pytest.raises(ValueError, match="calls is at least 1"):
        net.profile(x, calls=0)
    with mx.autograd.record(), pytest.raises(mx.MXNetError, match="while autograd records"):
        net.profile(x)
    net.hybridize(False)
    with pytest.raises(mx.MXNetError, match="not hybridized"):
        net.profile(x)


def test_a_block_that_runs_imperatively_has_no_profile() -> None:
    class Host(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # type: ignore[no-untyped-def]
            return x * float(x.asnumpy().max())

    net = Host()
    net.hybridize(fallback=True)
    with pytest.warns(mx.HybridizeWarning), pytest.raises(mx.MXNetError, match="runs imperatively"):
        net.profile(mx.nd.ones((2, 2)))
