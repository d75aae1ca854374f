"""Values that compiled calls keep of parameters: every way to write into a parameter must show in the next call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import autograd, gluon, nd
from autohybrid.gluon import nn


class Scaled(gluon.HybridBlock):
    """`x * exp(weight) + array`: `exp` is computed ahead of the calls."""

    def __init__(self, array: Any = None) -> None:
        super().__init__()
        self.array = nd.zeros((2, 3)) if array is None else array
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(2, 3))

    def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
        return F.sin(x) * F.exp(weight) + F.cos(self.array)


def make(array: Any = None) -> Scaled:
    """A hybridized block with weights of zero that has been called."""
    net = Scaled(array)
    net.initialize(mx.init.Zero())
    net.hybridize()
    for _ in range(3):
        net(nd.ones((2, 3)))
    return net


def code_of(net: Any) -> str:
    """The generated code of the first graph, without comments."""
    source = str(next(iter(next(iter(net._compiled.entries.values())).function._code.values())).source)
    return "\n".join(line for line in source.splitlines() if not line.strip().startswith("#"))


def check(net: Any) -> np.ndarray[Any, Any]:
    """Twice the compiled result, equal to the imperative one bit for bit; that result."""
    x = nd.ones((2, 3))
    results = [net(x).asnumpy(), net(x).asnumpy()]
    net.hybridize(False, clear=False)
    expected = net(x).asnumpy()
    net.hybridize(clear=False)
    for result in results:
        np.testing.assert_array_equal(result, expected)
    return expected  # type: ignore[no-any-return]


def by_trainer(net: Any) -> None:
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    with autograd.record():
        loss = net(nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(1)


def by_file(net: Any, path: Any) -> None:
    other = Scaled()
    other.initialize(mx.init.One())
    other.save_parameters(str(path))
    net.load_parameters(str(path))


def by_view(net: Any) -> None:
    row = net.weight.data()[1]
    row[0:2].reshape((2, 1))[:] = 3


def by_sparse(net: Any) -> None:
    nd.ones((2, 3)).tostype("row_sparse").copyto(net.weight.data())


def by_store(net: Any) -> None:
    store = mx.kv.create("local")
    store.init(0, nd.ones((2, 3)))
    store.pull(0, out=net.weight.data())


def by_block(net: Any) -> None:
    """Another compiled block writes into the weight, which it is given as an argument."""

    class Writer(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            x[0] = 7
            return x * 2

    writer = Writer()
    writer.hybridize()
    writer(net.weight.data())


def by_custom_operator(net: Any) -> None:
    class Write(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            aux[0][:] = 4
            self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("write_into_state")
    class WriteProp(mx.operator.CustomOpProp):
        def list_auxiliary_states(self) -> list[str]:
            return ["state"]

        def infer_shape(self, shapes: Any) -> Any:
            return [shapes[0]], [shapes[0]], [shapes[0]]

        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Write()

    nd.Custom(nd.ones((2, 3)), net.weight.data(), op_type="write_into_state").wait_to_read()


WRITES: dict[str, Callable[[Any], Any]] = {
    "number": lambda net: net.weight.data().__setitem__(slice(None), 2),
    "element": lambda net: net.weight.data().__setitem__((0, 1), 2),
    "array": lambda net: net.weight.data().__setitem__(1, nd.array([1, 2, 3])),
    "index arrays": lambda net: net.weight.data().__setitem__((nd.array([0, 1]), nd.array([2, 0])), 5),
    "in place": lambda net: net.weight.data().__iadd__(1),
    "view": by_view,
    "detached": lambda net: net.weight.data().detach().__setitem__(0, 1),
    "slice_assign": lambda net: net.weight.data().slice_assign(nd.ones((1, 2)), (0, 0), (1, 2), (1, 1)),
    "set_data": lambda net: net.weight.set_data(nd.full((2, 3), 0.5)),
    "initialize": lambda net: net.initialize(mx.init.One(), force_reinit=True),
    "reset_ctx": lambda net: (net.weight.reset_ctx([mx.cpu()]), net.weight.data().__setitem__(0, 2)),
    "copyto": lambda net: nd.ones((2, 3)).copyto(net.weight.data()),
    "out": lambda net: nd.exp(nd.ones((2, 3)), out=net.weight.data()),
    "random out": lambda net: nd.random.uniform(shape=(2, 3), out=net.weight.data()),
    "update": lambda net: nd.sgd_update(net.weight.data(), nd.ones((2, 3)), lr=0.1, out=net.weight.data()),
    "state of an update": lambda net: nd.sgd_mom_update(nd.ones((2, 3)), nd.ones((2, 3)), net.weight.data(), lr=0.1),
    "trainer": by_trainer,
    "sparse": by_sparse,
    "store": by_store,
    "written argument": by_block,
    "custom operator": by_custom_operator,
}


@pytest.mark.parametrize("way", WRITES)
def test_every_way_to_write_shows_in_the_next_call(way: str) -> None:
    net = make()
    assert "exp(" not in code_of(net)
    before = check(net)
    WRITES[way](net)
    assert not np.array_equal(check(net), before)


def test_loaded_parameters_show_in_the_next_call(tmp_path: Any) -> None:
    net = make()
    before = check(net)
    by_file(net, tmp_path / "one.params")
    assert not np.array_equal(check(net), before)


def test_memory_that_others_write_counts_as_changed_always() -> None:
    memory = np.zeros((4, 3), dtype="float32")
    part = memory[:2]
    shared = nd.from_numpy(memory)
    net = make(shared[:2])
    assert "cos(" not in code_of(net)
    before = check(net)
    part[0, 0] = 1  # `memory` itself can no longer be written, but this view of it can
    assert not np.array_equal(check(net), before)


def test_memory_given_away_after_the_first_call_counts_as_changed_from_then_on() -> None:
    array = nd.zeros((2, 3))
    net = make(array)
    before = check(net)
    outside = nd.from_dlpack(array.to_dlpack_for_write())
    outside._data[0] = 1  # a write that nobody tells of
    first = check(net)
    assert not np.array_equal(first, before)
    outside._data[1] = 2
    assert not np.array_equal(check(net), first)


def test_only_what_depends_on_a_written_array_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    net = make()
    made: list[str] = []
    from autohybrid.graph.passes import fold_constants

    original = fold_constants.run_kernel
    monkeypatch.setattr(fold_constants, "run_kernel", lambda op, *rest: (made.append(op.name), original(op, *rest))[1])
    x = nd.ones((2, 3))
    net(x)
    assert made == []
    net.weight.data()[0] = 1
    net(x)
    net(x)
    assert made == ["exp"]
    nd.ones((2, 3))[:] = 2  # memory that no compiled call knows
    net(x)
    assert made == ["exp"]


def test_an_array_that_the_graph_itself_writes_is_not_taken_for_constant() -> None:
    class Counting(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.count = nd.zeros((1,))

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            self.count += 1
            return x + F.exp(self.count)

    net = Counting()
    net.hybridize()
    for n in range(1, 5):
        np.testing.assert_allclose(net(nd.zeros((1,))).asnumpy(), np.exp(np.float32(n)), rtol=1e-6)


def test_running_statistics_of_training_show_in_later_inference() -> None:
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    x = nd.array(np.random.RandomState(0).uniform(1, 5, (8, 4)))
    net.hybridize()
    results = []
    for _ in range(3):
        results.append(net(x).asnumpy())
        with autograd.record():
            net(x).backward()
        net.hybridize(False, clear=False)
        expected = net(x).asnumpy()
        net.hybridize(clear=False)
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6, atol=1e-6)
    assert not np.allclose(results[0], results[2])


def test_results_never_share_memory_with_kept_values() -> None:
    class Constant(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(2, 3), init="ones")

        def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
            kept = F.exp(weight)
            return [kept, F.reshape(kept, (3, 2)), F.relu(kept) + x, F.transpose(weight)]

    net = Constant()
    net.initialize()
    net.hybridize()
    first = net(nd.zeros((2, 3)))
    expected = [r.asnumpy() for r in first]
    for result in first:
        result[:] = -1
    for got, wanted in zip(net(nd.zeros((2, 3))), expected, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), wanted)


def test_large_results_of_small_parameters_are_not_kept() -> None:
    class Wide(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(1, 300), init="ones")

        def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
            return F.broadcast_add(x, F.tile(weight, (3000, 1)).sum(axis=0))

    net = Wide()
    net.initialize()
    net.hybridize()
    net(nd.zeros((1, 300)))
    assert "run_tile" in code_of(net)


def test_errors_of_values_made_ahead_name_the_users_line() -> None:
    class Bad(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(2, 2), init="zeros")

        def hybrid_forward(self, F: Any, x: Any, weight: Any) -> Any:
            return x + F.linalg.potrf(weight - 1)

    net = Bad()
    net.initialize()
    net.hybridize()
    with pytest.raises(mx.MXNetError, match=r"test_prepared\.py:\d+.*potrf"):
        net(nd.zeros((2, 2)))


def test_calls_in_other_threads_see_whole_values() -> None:
    net = make()
    x = nd.ones((2, 3))
    allowed = {float(np.sin(np.float32(1)) * np.exp(np.float32(n)) + 1) for n in range(20)}
    wrong: list[Any] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            for value in net(x).asnumpy().ravel():
                if not any(abs(value - a) <= 1e-5 * abs(a) for a in allowed):
                    wrong.append(value)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(20):
        net.weight.set_data(nd.full((2, 3), float(n)))
        net(x)
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    np.testing.assert_allclose(net(x).asnumpy(), np.sin(1) * np.exp(19) + 1, rtol=1e-5)


def test_exact_is_an_option_and_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    net = Scaled()
    assert not net._options.is_exact
    net.hybridize(exact=True)
    assert net._options.is_exact
    monkeypatch.setenv("AUTOHYBRID_EXACT", "1")
    net.hybridize()
    assert net._options.is_exact
    net.hybridize(exact=False)
    assert not net._options.is_exact
