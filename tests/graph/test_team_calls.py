"""Convolutions that several threads share give the numbers of one thread; errors and nesting of a team."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import threads
from autohybrid.gluon import nn
from autohybrid.graph.alone_call import AloneCall
from autohybrid.graph.channels_last.operators import is_shared
from autohybrid.team import Team

needs_limits = pytest.mark.skipif(
    not threads.blas_threads.can_be_limited, reason="the threads of this NumPy's BLAS cannot be limited"
)


def conv_net() -> Any:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(64, 3, padding=1, in_channels=32), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2),
        nn.Conv2D(64, 3, padding=1, groups=64, in_channels=64), nn.Conv2D(256, 1), nn.Activation("relu"),
        nn.Conv2D(128, 3, strides=2, padding=1), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(5),
    )  # fmt: skip
    net.initialize(mx.init.Xavier())
    return net


def result_and_executors(net: Any, x: Any, **options: Any) -> tuple[Any, list[Any]]:
    net.hybridize(**options)
    result = net(x).asnumpy()
    (entry,) = net._compiled.entries.values()
    return result, list(entry.function._code.values())


@needs_limits
@pytest.mark.parametrize("count", ["2", "3", "4"])
def test_several_threads_give_what_the_imperative_block_gives(monkeypatch: pytest.MonkeyPatch, count: str) -> None:
    net, x = conv_net(), mx.nd.random.uniform(-1, 1, shape=(1, 32, 56, 56))
    expected = net(x).asnumpy()
    monkeypatch.setenv("AUTOHYBRID_THREADS", count)
    result, codes = result_and_executors(net, x)
    assert [type(code) for code in codes] == [AloneCall]
    shared = [node for step in codes[0].plan.steps for node in step.nodes if is_shared(node)]
    assert shared
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(net(x).asnumpy(), result)


@needs_limits
def test_calls_in_several_threads_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them has the team, the others do all the parts themselves."""
    monkeypatch.setenv("AUTOHYBRID_THREADS", "2")
    net, x = conv_net(), mx.nd.random.uniform(-1, 1, shape=(1, 32, 56, 56))
    expected, _ = result_and_executors(net, x)
    results: list[Any] = []
    callers = [threading.Thread(target=lambda: results.append(net(x).asnumpy())) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_exact_graphs_and_one_thread_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = conv_net(), mx.nd.random.uniform(-1, 1, shape=(1, 32, 56, 56))
    for count, options in (("1", {}), ("2", {"exact": True})):
        monkeypatch.setenv("AUTOHYBRID_THREADS", count)
        _, codes = result_and_executors(net, x, **options)
        assert not any(isinstance(code, AloneCall) for code in codes)


@needs_limits
def test_a_profile_of_a_shared_call_times_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOHYBRID_THREADS", "2")
    net, x = conv_net(), mx.nd.random.uniform(-1, 1, shape=(1, 32, 56, 56))
    _, codes = result_and_executors(net, x)
    assert isinstance(codes[0], AloneCall)
    assert len(net.profile(x, calls=1).steps) == len(codes[0].plan.steps)


def note(places: dict[str, str], name: str) -> Callable[[], None]:
    return lambda: places.__setitem__(name, threading.current_thread().name)


def test_a_team_does_every_job_and_the_first_one_in_the_caller() -> None:
    team, places = Team(), {}
    for _ in range(3):
        places.clear()
        team.run([note(places, "a"), note(places, "b"), note(places, "c")])
        assert places == {"a": threading.current_thread().name, "b": "autohybrid-team", "c": "autohybrid-team"}
    team.run([note(places, "alone")])
    assert places["alone"] == threading.current_thread().name


def test_a_team_inside_of_a_part_does_its_jobs_one_after_the_other() -> None:
    team, places = Team(), {}
    team.run([lambda: team.run([note(places, "a"), note(places, "b")]), lambda: team.run([note(places, "c")] * 2)])
    assert places == dict.fromkeys("ab", threading.current_thread().name) | {"c": "autohybrid-team"}


@pytest.mark.parametrize("position", [0, 1, 2])
def test_errors_of_parts_are_raised_when_all_have_ended(position: int) -> None:
    team, ended = Team(), []

    def fail() -> None:
        raise ValueError("broken")

    jobs: list[Callable[[], None]] = [lambda: ended.append(1) for _ in range(3)]
    jobs[position] = fail
    with pytest.raises(ValueError, match="broken"):
        team.run(jobs)
    assert len(ended) == 2
    team.run([lambda: ended.append(1)] * 3)
    assert len(ended) == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@needs_limits
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_computes_with_a_team_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOHYBRID_THREADS", "2")
    net, x = conv_net(), mx.nd.random.uniform(-1, 1, shape=(1, 32, 56, 56))
    expected, _ = result_and_executors(net, x)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(net(x).asnumpy(), expected) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
