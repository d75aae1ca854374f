"""`mx.np.ndarray`: identity, dtypes, writes, printing, conversions; as MXNet 1.9.1 has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as onp
import pytest

import autohybrid as mx
from autohybrid import autograd, np, npx


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


@pytest.mark.parametrize(
    "left, right, operator, wanted",
    [
        ("int32", "float32", "+", "float32"), ("float32", "float64", "*", "float64"), ("int32", "int32", "/",
                                                                                       "float32"),
        ("int8", "int32", "+", "int32"), ("bool", "bool", "+", "bool"), ("int64", "float16", "-", "float16"),
        ("int32", "int64", "-", None), ("float32", "float64", "/", None), ("int8", "uint8", "+", None),
        ("float32", "float64", ">", None), ("bool", "bool", "-", None),
    ],
)  # fmt: skip
def test_promotion_of_dtypes(left: str, right: str, operator: str, wanted: str | None) -> None:
    operands = {"x": np.ones((2,), dtype=left), "y": np.ones((2,), dtype=right)}
    if wanted is None:
        with pytest.raises(mx.MXNetError, match=r"dtype"):
            eval(f"x {operator} y", operands)
    else:
        assert onp.dtype(eval(f"x {operator} y", operands).dtype) == wanted


@pytest.mark.parametrize(
    "text, wanted, dtype",
    [
        ("np.array([1, 2], dtype='int32') + 2.5", [3, 4], "int32"),
        ("2.5 + np.array([1, 2], dtype='int32')", [3, 4], "int32"),
        ("np.array([1, 2], dtype='int32') / 2", [0.5, 1], "float32"),
        ("np.array([True, False]) + 2", [3, 2], "float32"),
        ("np.array([True, False], dtype='bool') + 2", [3, 2], "int64"),
        ("np.array([7, -7], dtype='int32') % 0", [0, 0], "int32"),
        ("np.array([1, 2]) == 2", [False, True], "bool"),
        ("np.arange(3)", [0, 1, 2], "float32"),
        ("np.array([1, 2])", [1, 2], "float32"),
        ("np.full((2,), True)", [True, True], "bool"),
    ],
)  # fmt: skip
def test_numbers_beside_arrays(text: str, wanted: list[Any], dtype: str) -> None:
    found = eval(text, {"np": np})
    assert found.tolist() == wanted and onp.dtype(found.dtype) == dtype


def test_writes_of_every_kind() -> None:
    wanted = onp.zeros((3, 4), dtype="float32")
    found = np.zeros((3, 4))
    for array, m in ((wanted, onp), (found, np)):
        array[1] = 1
        array[:, 2] = m.array([7.0, 8.0, 9.0])
        array[0, 0:2] = 5
        array[2, [0, 1]] = -1
        array[array > 6] = 0.5
        array[..., 3] += 2
        array[2] *= 2
    assert found.tolist() == wanted.tolist()


def test_a_view_shares_memory_with_the_array() -> None:
    x = np.zeros((2, 3))
    row, element = x[1], x[0, 2]
    row[:] = 4
    element += 1
    assert x.tolist() == [[0, 0, 1], [4, 4, 4]]
    assert element.shape == () and isinstance(element, np.ndarray)


def test_classic_and_numpy_arrays_share_memory_and_graph() -> None:
    x = mx.nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x * 2).as_np_ndarray()
        z = np.sum(y * y)
    z.backward()
    assert x.grad.asnumpy().tolist() == [8, 16] and type(x.grad) is mx.nd.NDArray
    w = x.as_np_ndarray()
    w[0] = 5
    assert x.asnumpy()[0] == 5 and type(w.as_nd_ndarray()) is mx.nd.NDArray


def test_gradients_are_numpy_arrays() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
        (first,) = autograd.grad(y, [x], create_graph=True)
        z = first.sum()
    z.backward()
    assert isinstance(first, np.ndarray) and isinstance(x.grad, np.ndarray)
    assert x.grad.tolist() == [6, 12]


def test_a_function_of_the_users_sees_numpy_arrays() -> None:
    class Cube(autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return x**3

        def backward(self, head: Any) -> Any:
            assert isinstance(head, np.ndarray)
            return head * 3 * self.saved_tensors[0] ** 2

    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = Cube()(x)
    y.backward()
    assert isinstance(y, np.ndarray) and x.grad.tolist() == [12]


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("np.array([[1, 2], [3, 4]])", "array([[1., 2.],\n       [3., 4.]])"),
        ("np.array(3.5)", "array(3.5)"),
        ("np.ones((0, 2))", "array([], shape=(0, 2))"),
        ("np.array([1], dtype='int32')", "array([1], dtype=int32)"),
        ("np.array([1.5], dtype='float64')", "array([1.5], dtype=float64)"),
        ("np.array([1.5]) > 1", "array([ True])"),
    ],
)
def test_printing(text: str, wanted: str) -> None:
    assert repr(eval(text, {"np": np})) == wanted


def test_truth_length_and_iteration() -> None:
    assert bool(np.array(1.0)) and not bool(np.array(0.0))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(np.ones((2,)))
    with pytest.raises(TypeError):
        len(np.array(1.0))
    assert [float(row.sum()) for row in np.ones((2, 3))] == [3, 3]
    with pytest.raises(TypeError, match="format"):
        f"{np.array([1.5]):.2f}"
    assert f"{np.array([1.5])}" == "[1.5]"
    x = np.ones((2, 3))
    assert x[np.array(True, dtype="bool")].shape == (1, 2, 3) and x[np.array(1) > 2].shape == (0, 2, 3)
    assert f"{np.array(1.5):.2f}" == "1.50" and float(np.array(2.5)) == 2.5


@pytest.mark.parametrize(
    "text, error",
    [
        ("x[5]", IndexError), ("x[np.ones((3,)) > 0]", IndexError), ("np.concatenate([x, np.ones((2, 2))])",
                                                                     mx.MXNetError),
        ("np.reshape(x, (5, 7))", mx.MXNetError), ("x + np.ones((4,))", mx.MXNetError), ("x.reshape(2, -1, -1)",
                                                                                         mx.MXNetError),
        ("np.sum(x, axis=3)", mx.MXNetError), ("np.exp('a')", TypeError), ("np.add(x, 'a')", TypeError),
        ("np.sum(x, where=x > 0)", TypeError), ("np.split(x, 2, axis=1)", ValueError), ("np.zeros((-1,))",
                                                                                        mx.MXNetError),
        ("np.einsum('ij->k', x)", mx.MXNetError), ("np.linalg.inv(x)", mx.MXNetError), ("np.exp(x, casting='no')",
                                                                                        TypeError),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(text, {"np": np, "x": np.ones((2, 3))})


def test_writing_into_a_recorded_array_is_refused() -> None:
    x = np.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(mx.MXNetError, match="Inplace operations"):
            y[0] = 1
        with pytest.raises(mx.MXNetError, match="Inplace operations"):
            y += 1


@pytest.mark.parametrize(
    "text, mean, variance",
    [
        ("uniform(0, 2, size=(200, 200))", 1, 1 / 3), ("normal(1, 2, size=(200, 200))", 1, 4),
        ("gamma(2, 1, size=(200, 200))", 2, 2), ("exponential(2, size=(200, 200))", 2, 4),
        ("gumbel(0, 1, size=(200, 200))", 0.5772, 1.645), ("logistic(0, 1, size=(200, 200))", 0, 3.29),
        ("rayleigh(1, size=(200, 200))", 1.2533, 0.4292), ("weibull(1, size=(200, 200))", 1, 1),
        ("beta(2, 2, size=(200, 200))", 0.5, 0.05), ("chisquare(3, size=(200, 200))", 3, 6),
        ("pareto(5, size=(200, 200))", 0.25, 0.104), ("power(2, size=(200, 200))", 2 / 3, 1 / 18),
        ("lognormal(0, 0.5, size=(200, 200))", 1.133, 0.3647), ("randint(0, 5, size=(200, 200))", 2, 2),
        ("choice(5, size=(40000,))", 2, 2), ("rand(200, 200)", 0.5, 1 / 12), ("randn(200, 200)", 0, 1),
        ("normal(np.array([1.0, 1.0]), 2, size=(20000, 2))", 1, 4),
    ],
)  # fmt: skip
def test_distributions(text: str, mean: float, variance: float) -> None:
    npx.random.seed(5)
    drawn = eval(f"np.random.{text}", {"np": np}).asnumpy().astype("float64")
    assert abs(drawn.mean() - mean) < 0.03 * max(1, abs(mean))
    assert abs(drawn.var() / variance - 1) < 0.08
    npx.random.seed(5)
    assert (eval(f"np.random.{text}", {"np": np}).asnumpy() == drawn).all()


def test_other_draws() -> None:
    assert np.random.uniform().shape == () and np.random.normal(np.zeros((3, 1)), np.ones((2,))).shape == (3, 2)
    assert npx.random.uniform_n(np.zeros((2,)), 1.0, batch_shape=(3,)).shape == (3, 2)
    assert set(npx.random.bernoulli(prob=0.5, size=(50,)).tolist()) == {0, 1}
    assert np.random.multinomial(10, [0.2, 0.8]).sum().item() == 10
    assert sorted(np.random.choice(4, size=(4,), replace=False).tolist()) == [0, 1, 2, 3]
    assert np.random.choice(np.array([7.0, 8.0]), size=(3,)).max().item() <= 8
    drawn = np.random.multivariate_normal(np.zeros((2,)), np.array([[1.0, 0.5], [0.5, 1.0]]), size=(4000,)).asnumpy()
    assert abs(onp.cov(drawn.T) - [[1, 0.5], [0.5, 1]]).max() < 0.1
    x = np.arange(20)
    np.random.shuffle(x)
    assert sorted(x.tolist()) == list(range(20)) and x.tolist() != list(range(20))
    for law, message in (("normal(0, -1)", "at least 0"), ("gamma(-1)", "above 0")):
        with pytest.raises(mx.MXNetError, match=message):
            eval(f"np.random.{law}", {"np": np})
