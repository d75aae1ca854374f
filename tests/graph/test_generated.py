"""The generated executor against the plain interpreter: every template, runs of element-wise calls, shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.graph.function import GraphFunction, GraphOutputs
from autohybrid.graph.interpreter import run
from autohybrid.graph.node import Node
from autohybrid.graph.structure import ARRAY
from autohybrid.tensor.opdef import OpDef, Sample
from autohybrid.tensor.ops import get_operator, records


@pytest.fixture(autouse=True)
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here is compared bit for bit."""
    monkeypatch.setenv("AUTOHYBRID_EXACT", "1")


TEMPLATES = [
    (op, sample) for op in records() for sample in op.samples if op.fast is not None and sample.error is None
]  # fmt: skip


def drawn(op: OpDef, sample: Sample, dtype: str | None) -> list[Any]:
    """The inputs of a sample; `dtype` is that of the data, and where it can be of all of them."""
    state = np.random.RandomState(5)
    arrays = []
    for k, shape in enumerate(sample.shapes):
        wanted = (dtype if k == 0 or not op.aux or dtype == "float64" else None) or (
            sample.dtypes[k] if sample.dtypes else "float32"
        )
        values = np.asarray(sample.values.get(k, state.uniform(sample.low, sample.high, shape)))
        arrays.append(nd.array(values, dtype=wanted))
    return arrays


def function_of(heads: Sequence[Any], names: Sequence[str]) -> GraphFunction:
    """A graph function with several results."""
    structure: Any = ARRAY if len(heads) == 1 else (list, (ARRAY,) * len(heads))
    return GraphFunction(names, {}, GraphOutputs(tuple(heads), structure), frozenset(), exact=True)


def both(heads: Sequence[Any], feed: dict[str, Any]) -> tuple[list[Any], list[Any], str]:
    """The results of the generated code and of the interpreter, and the code."""
    before = {name: array.asnumpy() for name, array in feed.items()}
    function = function_of(heads, list(feed))
    code = function.code(tuple([(a._data.shape, a._data.dtype) for a in feed.values()]), False)
    results = code(*[a._data for a in feed.values()])
    for name, array in feed.items():
        np.testing.assert_array_equal(array.asnumpy(), before[name], err_msg=f"{name} was overwritten")
        assert not any(np.shares_memory(array._data, r) for r in results)
    for i, first in enumerate(results):
        assert not any(np.shares_memory(first, other) for other in results[:i])
    expected = [r.asnumpy() for r in run(heads, feed)]
    return list(results), expected, code.source  # type: ignore[attr-defined]


def assert_same(results: Sequence[Any], expected: Sequence[Any]) -> None:
    """Equal shapes, dtypes and values, bit for bit."""
    for result, other in zip(results, expected, strict=True):
        assert result.dtype == other.dtype and result.flags.c_contiguous
        np.testing.assert_array_equal(result, other)


@pytest.mark.parametrize("dtype", [None, "float64", "float16"])
@pytest.mark.parametrize(("op", "sample"), TEMPLATES, ids=lambda v: v.name if isinstance(v, OpDef) else "")
def test_every_template_gives_what_the_kernel_gives(op: OpDef, sample: Sample, dtype: str | None) -> None:
    if dtype is not None and sample.dtypes is not None:
        return
    attrs = op.parse(sample.attrs)
    arrays = drawn(op, sample, dtype)
    variables = [Node(None, None, (), f"x{i}") for i in range(len(arrays))]
    node = Node(op, attrs, [(v, 0) for v in variables], "call")
    # The call once on its inputs, and once on copies that it may overwrite.
    add = get_operator("_plus_scalar")
    copies = [Node(add, add.parse({"scalar": 0}), [(v, 0)], "c") for v in variables]
    again = Node(op, attrs, [(c, 0) for c in copies], "again")
    feed = {v.name: a for v, a in zip(variables, arrays)}
    assert_same(*both([(node, 0), (again, 0)], feed)[:2])


class Net(mx.gluon.HybridBlock):
    """A block around a function of (F, arrays)."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def hybrid_forward(self, F: Any, *args: Any) -> Any:
        return self.function(F, *args)


def compared(function: Any, *arrays: Any) -> str:
    """Compare the hybridized block with the imperative one, bit for bit; the generated code."""
    net = Net(function)
    expected = net(*arrays)
    before = [a.asnumpy() for a in arrays]
    net.hybridize()
    first, second = net(*arrays), net(*arrays)
    for result in (first, second):
        pairs = zip(leaves(result), leaves(expected), strict=True)
        for got, wanted in pairs:
            assert_same([got._data], [wanted._data])
    for a, b in zip(arrays, before):
        np.testing.assert_array_equal(a.asnumpy(), b)
    entry = next(iter(net._compiled.entries.values()))
    return str(next(iter(entry.function._code.values())).source)  # type: ignore[attr-defined]


def leaves(result: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, (list, tuple)) else [result]


def large(*shape: int, seed: int = 0) -> Any:
    """An array large enough for a loop over pieces."""
    return nd.array(np.random.RandomState(seed).uniform(-2, 2, shape).astype("float32"))


@pytest.mark.parametrize("shape", [(1, 7, 300, 301), (5, 200, 199), (3, 100003), (1, 262144), (262144, 1), (300017,)])
def test_runs_of_elementwise_calls_become_loops(shape: tuple[int, ...]) -> None:
    x, y, z = large(*shape), large(*shape, seed=1), large(*shape[-1:], seed=2)

    def chain(F: Any, x: Any, y: Any, z: Any) -> Any:
        a = F.sigmoid(x) * F.tanh(y)
        b = F.relu(F.broadcast_add(a, z)) + a
        c = F.exp(-b * b) - 0.5 * x
        return [c, b, F.sqrt(F.abs(c)) ** 2, c.sum()]

    assert "for start in range" in compared(chain, x, y, z)


def test_operands_that_broadcast_are_cut_only_along_axes_they_have() -> None:
    x = large(2, 64, 50, 50)
    channel, row, image = large(1, 64, 1, 1), large(1, 1, 1, 50), large(2, 1, 50, 50)

    def chain(F: Any, x: Any, channel: Any, row: Any, image: Any) -> Any:
        return F.relu(F.broadcast_mul(F.broadcast_add(F.broadcast_sub(x, channel), row), image))

    assert "for start in range" in compared(chain, x, channel, row, image)


def test_views_and_results_keep_their_memory() -> None:
    def views(F: Any, x: Any) -> Any:
        a = x + 1
        v = a.reshape((-1, 8)).transpose((1, 0))
        b = F.relu(v)
        c = F.tanh(a)  # must not overwrite what `v` still shows
        return [v * 2, b, c, a.reshape((8, -1)), F.identity(x), F.BlockGrad(a), v.expand_dims(0).squeeze()]

    compared(views, large(4, 6, 8))
    compared(lambda F, x: F.broadcast_to(x + 1, shape=(3, 4)) * 2, large(1, 4))
    compared(lambda F, x: [F.relu((x + 1).slice_axis(0, 0, 2)), F.tanh((x * 2).reshape((0, -1)))], large(4, 4, 2))


def test_equal_calls_are_computed_once_and_random_ones_twice() -> None:
    source = compared(lambda F, x: F.exp(x) * 2 + F.exp(x) * 3, large(3, 4))
    assert source.count("= exp(") == 1
    net = Net(lambda F, x: F.random.uniform(shape=(50,)) - F.random.uniform(shape=(50,)) + x)
    net.hybridize()
    assert np.abs(net(nd.zeros((50,))).asnumpy()).min() > 0


def test_dropout_outside_training_costs_nothing_and_drops_in_training() -> None:
    net = Net(lambda F, x: F.Dropout(x * 2, p=0.5))
    net.hybridize()
    x = nd.ones((1000,))
    assert (net(x) == 2).asnumpy().all()
    entry = next(iter(net._compiled.entries.values()))
    assert "run_Dropout" not in next(iter(entry.function._code.values())).source  # type: ignore[attr-defined]
    with mx.autograd.train_mode():
        assert set(net(x).asnumpy().tolist()) == {0.0, 4.0}
    always = Net(lambda F, x: F.Dropout(x, p=0.5, mode="always"))
    always.hybridize()
    assert set(always(x).asnumpy().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("shape", [(2, 16, 5, 7), (2, 64, 60, 60), (1, 3), (4, 6, 30000)])
@pytest.mark.parametrize("scale", [True, False])
def test_batch_norm_follows_its_parameters(shape: tuple[int, ...], scale: bool) -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.BatchNorm(scale=scale), mx.gluon.nn.Activation("relu"))
    net.initialize()
    x = large(*shape)
    net(x)
    net.hybridize(exact=True)
    for step in range(3):
        for name, parameter in net.collect_params().items():
            values = np.random.RandomState(step).uniform(0.5, 2, parameter.shape)
            if step < 2:
                parameter.set_data(nd.array(values))
            else:
                parameter.data()[:] = nd.array(values)
            assert name
        got = net(x).asnumpy()
        net.hybridize(False)
        np.testing.assert_array_equal(got, net(x).asnumpy())
        net.hybridize(exact=True)


def test_errors_of_kernels_name_the_users_line() -> None:
    net = Net(lambda F, x, i: F.linalg.potrf(x * 1) + i)
    net.hybridize()
    with pytest.raises(mx.MXNetError, match=r"test_generated\.py:\d+.*potrf"):
        net(nd.array([[[1.0, 2.0], [2.0, 1.0]]]), nd.zeros((1, 2, 2)))


def test_the_sign_of_zero_tells_attributes_apart() -> None:
    def signs(F: Any, x: Any) -> Any:
        return [1 / (x * 0.0), 1 / (x * -0.0)]

    compared(signs, nd.ones((2,)))
    assert [r.asnumpy()[0] for r in signs(nd, nd.ones((2,)))] == [np.inf, -np.inf]
