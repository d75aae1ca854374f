"""Large batches in several threads: equal to one thread where rows stay apart, and never split where they do not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import threads
from autohybrid.gluon import nn
from autohybrid.graph import row_split
from autohybrid.graph.row_split import SplitCall

pytestmark = pytest.mark.skipif(
    not threads.blas_threads.can_be_limited, reason="the threads of this NumPy's BLAS cannot be limited"
)


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits everything that can be split, in three parts of unequal size."""
    monkeypatch.setenv("AUTOHYBRID_THREADS", "3")
    monkeypatch.setattr(row_split, "_LEAST_SECONDS", 0.0)


class Lambda(mx.gluon.HybridBlock):
    """A block of one function of F and tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, *inputs: Any) -> Any:
        return self.function(F, *inputs)


def compiled(net: Any, *inputs: Any) -> tuple[Any, list[Any]]:
    """The result of a hybridized call, and the executors that were made."""
    net.hybridize()
    result = net(*inputs)
    (entry,) = net._compiled.entries.values()
    return result, list(entry.function._code.values())


def random(*shape: int) -> Any:
    return mx.nd.array(np.random.RandomState(len(shape)).uniform(-1, 1, shape))


def conv_net() -> Any:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2), nn.Conv2D(4, 3),
        nn.LeakyReLU(0.1), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dropout(0.5), nn.Dense(5),
    )  # fmt: skip
    net.initialize()
    return net


APART: dict[str, tuple[Callable[[], Any], tuple[tuple[int, ...], ...]]] = {
    "convolutions": (conv_net, ((7, 3, 12, 12),)),
    "elementwise": (lambda: Lambda(lambda F, x, y: F.tanh(x) * y + 2), ((5, 4), (5, 4))),
    "broadcast": (lambda: Lambda(lambda F, x: F.broadcast_mul(x, F.ones((1, 4))) - F.ones((4,))), ((5, 4),)),
    "softmax": (lambda: Lambda(lambda F, x: F.log_softmax(F.softmax(x, axis=1))), ((5, 4, 3),)),
    "reductions": (lambda: Lambda(lambda F, x: [x.sum(axis=1), F.max(x, axis=0, exclude=True)]), ((5, 4, 3),)),
    "attention": (
        lambda: Lambda(lambda F, x: F.batch_dot(F.softmax(F.batch_dot(x, x, transpose_b=True)), x)),
        ((5, 4, 3),),
    ),
    "layout": (
        lambda: Lambda(lambda F, x: F.concat(F.transpose(x, (0, 2, 1)), F.reshape(x, (0, 3, -1)), dim=2)),
        ((5, 4, 3),),
    ),
}


@pytest.mark.parametrize("name", APART)
def test_a_split_call_gives_what_one_thread_gives(name: str) -> None:
    make, shapes = APART[name]
    net, inputs = make(), [random(*shape) for shape in shapes]
    expected = net(*inputs)
    for _ in range(2):
        result, codes = compiled(net, *inputs)
        assert [type(code) for code in codes] == [SplitCall]
        pairs = zip(result, expected) if isinstance(result, list) else [(result, expected)]
        for one, other in pairs:
            np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


TOGETHER: dict[str, tuple[Callable[[], Any], tuple[tuple[int, ...], ...]]] = {
    "softmax over the batch": (lambda: Lambda(lambda F, x: F.softmax(x, axis=0)), ((5, 4),)),
    "sum over the batch": (lambda: Lambda(lambda F, x: F.broadcast_sub(x, x.mean(axis=0, keepdims=True))), ((5, 4),)),
    "rows merged": (lambda: Lambda(lambda F, x: F.reshape(x, (-1, 2))), ((5, 4),)),
    "rows reversed": (lambda: Lambda(lambda F, x: F.reverse(x, axis=0)), ((5, 4),)),
    "rows joined": (lambda: Lambda(lambda F, x: F.concat(x, x, dim=0)), ((5, 4),)),
    "transposed": (lambda: Lambda(lambda F, x: F.transpose(x)), ((5, 5),)),
    "a product of inputs": (lambda: Lambda(lambda F, x, y: F.dot(x, y)), ((5, 5), (5, 5))),
    "a captured array with rows of its own": (
        lambda: Lambda(lambda F, x: x + mx.nd.array(np.arange(20).reshape(5, 4))),
        ((5, 4),),
    ),
    "random numbers": (lambda: Lambda(lambda F, x: x + F.random.uniform(shape=(1,))), ((5, 4),)),
    "other extents": (lambda: Lambda(lambda F, x, y: F.tanh(x) + F.sum(y)), ((5, 4), (6, 4))),
    "shape read": (lambda: Lambda(lambda F, x: x * x.shape[0]), ((5, 4),)),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_what_needs_all_rows_is_not_split(name: str) -> None:
    make, shapes = TOGETHER[name]
    inputs = [random(*shape) for shape in shapes]
    net = make()
    mx.random.seed(3)
    expected = net(*inputs)
    mx.random.seed(3)
    result, codes = compiled(net, *inputs)
    assert not any(isinstance(code, SplitCall) for code in codes)
    np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_train_mode_and_exact_graphs_are_not_split() -> None:
    net, x = conv_net(), random(6, 3, 12, 12)
    net.hybridize()
    with mx.autograd.train_mode():
        net(x)
    net.hybridize(exact=True)
    net(x)
    (entry,) = net._compiled.entries.values()
    assert not any(isinstance(code, SplitCall) for code in entry.function._code.values())


def test_small_calls_are_not_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_split, "_LEAST_SECONDS", 1e-3)
    _, codes = compiled(Lambda(lambda F, x: F.tanh(x)), random(8, 4))
    assert not any(isinstance(code, SplitCall) for code in codes)


def test_new_parameters_reach_all_parts() -> None:
    net, x = conv_net(), random(6, 3, 12, 12)
    net(x)
    compiled(net, x)
    for parameter in net.collect_params().values():
        parameter.set_data(parameter.data() * 0.5)
    result = net(x)
    net.hybridize(False)
    np.testing.assert_allclose(result.asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_an_error_in_any_part_comes_out() -> None:
    def fail(*arrays: Any) -> Any:
        raise mx.MXNetError("the last part")

    def work(*arrays: Any) -> Any:
        return arrays

    work.source = fail.source = ""  # type: ignore[attr-defined]
    work.plan = fail.plan = None  # type: ignore[attr-defined]
    call = SplitCall([(0, 2, work), (2, 4, work), (4, 5, fail)])
    with pytest.raises(mx.MXNetError, match="the last part"):
        call(np.zeros((5, 2)))


def test_the_number_of_threads_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads.thread_count() == 3
    monkeypatch.setenv("AUTOHYBRID_THREADS", "many")
    with pytest.raises(ValueError, match="AUTOHYBRID_THREADS is a number"):
        threads.thread_count()
    monkeypatch.delenv("AUTOHYBRID_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    assert threads.thread_count() == 4


def test_limits_of_blas_threads_nest() -> None:
    limit = threads.blas_threads
    count = getattr(limit._library, limit._names[0])
    before = count()
    with limit.alone():
        with limit.alone():
            assert count() == 1
        assert count() == 1
    assert count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    net, x = Lambda(lambda F, x: F.tanh(x) * 2), random(6, 4)
    compiled(net, x)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for threads that are not there
        net(x)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


class _Statistics(mx.gluon.HybridBlock):
    """BatchNorm with the statistics it used: the outputs behind the first have no rows."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        with self.name_scope():
            for name, init in (("gamma", "ones"), ("beta", "zeros"), ("mean", "zeros"), ("var", "ones")):
                setattr(self, name, self.params.get(name, shape=(channels,), init=init))

    def hybrid_forward(self, F: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any) -> Any:
        return F.BatchNorm(x, gamma, beta, mean, var, output_mean_var=True)


@pytest.mark.parametrize("channels", [5, 4])
def test_outputs_without_rows_are_not_joined(channels: int) -> None:
    net, x = _Statistics(channels), random(5, channels)
    net.initialize()
    expected = net(x)
    result, _ = compiled(net, x)
    for one, other in zip(result, expected, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
