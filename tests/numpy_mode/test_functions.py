"""Every function of `mx.np` that NumPy has too: NumPy's answer and shape, and the gradient by finite differences."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as onp
import pytest

import autohybrid as mx
from autohybrid import autograd, np, npx
from autohybrid.tensor.numpy_functions import functions

A = onp.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]])
V = onp.array([0.3, 1.7, -0.6])
P = onp.array([[0.4, 0.9, 0.1], [0.7, 0.2, 0.6]])
CUBE = onp.arange(24.0).reshape(2, 3, 4) / 7 - 1.3
SQUARE = onp.array([[2.0, 0.3, -0.4], [0.3, 1.5, 0.2], [-0.4, 0.2, 1.8]])

#: (expression, arrays it names, whether the gradient is compared). `m` is `numpy` or `mx.np`.
CASES: tuple[tuple[str, dict[str, Any], bool], ...] = (
    *((f"m.{name}(p)", {"p": P}, True) for name in (
        "absolute", "negative", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square", "reciprocal",
        "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh", "degrees",
        "radians", "nan_to_num", "fabs", "deg2rad", "rad2deg",
    )),
    *((f"m.{name}(a)", {"a": A * 1.3}, False) for name in (
        "sign", "ceil", "floor", "trunc", "fix", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "logical_not",
    )),
    ("m.arccosh(p + 1.5)", {"p": P}, True),
    *((f"m.{name}(a, v)", {"a": A, "v": V}, True) for name in (
        "add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot", "arctan2",
    )),
    ("m.power(p, v)", {"p": P, "v": V}, True),
    ("m.mod(p, v + 3)", {"p": P * 5, "v": V}, True),
    *((f"m.{name}(a, v)", {"a": A, "v": V}, False) for name in (
        "equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
    )),
    ("1 - a / 3 + 2 * a ** 2 % 3.3", {"a": A}, True),
    ("(a > 0) | (a < -1)", {"a": A}, False),
    ("-a + abs(a) // 1", {"a": A}, False),
    ("m.clip(a, -1, 1)", {"a": A}, True),
    ("m.where(a > 0, a, v)", {"a": A, "v": V}, True),
    ("m.where(a > 0, a, 2.0) + m.where(a > 0, -1.0, a)", {"a": A}, True),
    *((f"m.{name}(c)", {"c": CUBE}, True) for name in ("sum", "mean", "prod", "max", "min", "std", "var")),
    *((f"m.{name}(c, axis=1)", {"c": CUBE}, True) for name in ("sum", "mean", "prod", "max", "min", "std", "var")),
    *((f"m.{name}(c, axis=(0, 2), keepdims=True)", {"c": CUBE}, True) for name in ("sum", "mean", "prod", "max")),
    ("m.std(c, axis=0, ddof=1)", {"c": CUBE}, True),
    ("m.sum(e)", {"e": onp.zeros((0, 3))}, False),
    ("m.argmax(c, axis=1)", {"c": CUBE}, False),
    ("m.argmin(c)", {"c": CUBE}, False),
    ("m.all(a > -2, axis=0)", {"a": A}, False),
    ("m.any(a > 1)", {"a": A}, False),
    ("m.cumsum(a, axis=1) + m.cumsum(a)[0]", {"a": A}, True),
    ("m.average(a, 1, m.absolute(v))", {"a": A, "v": V}, True),
    ("m.percentile(a, 30)", {"a": A}, False),
    ("m.quantile(a, 0.25, axis=1)", {"a": A}, False),
    ("m.median(a)", {"a": A}, False),
    ("m.trace(s) + m.trace(c, 1, 1, 2).sum()", {"s": SQUARE, "c": CUBE}, True),
    ("m.diff(c, 2, 1)", {"c": CUBE}, True),
    ("m.ediff1d(a, to_end=9.0, to_begin=1.0)", {"a": A}, True),
    ("m.reshape(c, (4, -1))", {"c": CUBE}, True),
    ("m.ravel(c)", {"c": CUBE}, True),
    ("m.transpose(c, (2, 0, 1)) + c.T.sum()", {"c": CUBE}, True),
    ("m.swapaxes(c, 0, 2)", {"c": CUBE}, True),
    ("m.moveaxis(c, (0, 1), (-1, 0))", {"c": CUBE}, True),
    ("m.rollaxis(c, 2)", {"c": CUBE}, True),
    ("m.expand_dims(a, -1)", {"a": A}, True),
    ("m.squeeze(m.expand_dims(a, 1))", {"a": A}, True),
    ("m.broadcast_to(v, (2, 3))", {"v": V}, True),
    ("m.tile(a, (2, 1))", {"a": A}, True),
    ("m.repeat(a, 2, axis=1)", {"a": A}, True),
    ("m.roll(a, (1, -1), (0, 1))", {"a": A}, True),
    ("m.rot90(a, 3)", {"a": A}, True),
    ("m.flip(a, 1) + m.flipud(a) - m.fliplr(a)", {"a": A}, True),
    ("m.concatenate([a, p], axis=1)", {"a": A, "p": P}, True),
    ("m.concatenate([a, v], axis=None)", {"a": A, "v": V}, True),
    ("m.append(a, p, axis=0)", {"a": A, "p": P}, True),
    *((f"m.{name}([a, p])", {"a": A, "p": P}, True) for name in (
        "stack", "vstack", "hstack", "dstack", "column_stack",
    )),
    *((f"m.{name}([v, v])", {"v": V}, True) for name in ("vstack", "hstack", "dstack", "column_stack")),
    ("m.split(c, 3, axis=1)[1]", {"c": CUBE}, True),
    ("m.array_split(v, 2)[0]", {"v": V}, True),
    ("m.hsplit(c, (1, 2))[1] + m.dsplit(c, 4)[0]", {"c": CUBE}, True),
    ("m.vsplit(a, 2)[1]", {"a": A}, True),
    ("m.pad(a, ((1, 0), (2, 1)), 'constant', constant_values=3)", {"a": A}, True),
    ("m.pad(a, ((1, 1), (1, 2)), 'reflect')", {"a": A}, False),
    ("m.atleast_3d(v)", {"v": V}, True),
    ("m.tril(s, -1)", {"s": SQUARE}, True),
    ("m.diag(v, 1) + m.diagflat(v, -1)", {"v": V}, True),
    ("m.diag(s) * m.diagonal(c, 1, 1, 2)", {"s": SQUARE, "c": CUBE}, True),
    ("m.meshgrid(v, v)[0] + m.meshgrid(v, v)[1]", {"v": V}, True),
    ("m.dot(a, s) + m.dot(a, v)[:, None]", {"a": A, "s": SQUARE, "v": V}, True),
    ("c @ m.transpose(c, (0, 2, 1))", {"c": CUBE}, True),
    ("v @ s @ v", {"v": V, "s": SQUARE}, True),
    ("m.tensordot(c, c, axes=((0, 1), (0, 1)))", {"c": CUBE}, True),
    ("m.tensordot(a, s, axes=1)", {"a": A, "s": SQUARE}, True),
    ("m.inner(a, p) + m.vdot(a, p)", {"a": A, "p": P}, True),
    ("m.outer(v, v)", {"v": V}, True),
    ("m.einsum('ij,kj->ik', a, p) + m.einsum('ii', s)", {"a": A, "p": P, "s": SQUARE}, True),
    ("m.polyval(v, a)", {"v": V, "a": A}, True),
    ("m.take(c, m.array([2, 0], dtype='int64'), axis=1)", {"c": CUBE}, True),
    ("m.sort(a, axis=1)", {"a": A}, True),
    ("m.argsort(a, axis=1)", {"a": A}, False),
    ("m.unique(m.floor(a), return_counts=True)[1]", {"a": A}, False),
    ("m.nonzero(a > 0)[1]", {"a": A}, False),
    ("m.flatnonzero(a > 0)", {"a": A}, False),
    ("m.delete(a, 1, 1)", {"a": A}, False),
    ("m.insert(v, 1, 5.0)", {"v": V}, False),
    ("m.unravel_index(m.array([5, 7], dtype='int64'), (3, 4))[0]", {}, False),
    ("m.bincount(m.array([1, 1, 3], dtype='int64'), minlength=6)", {}, False),
    ("m.searchsorted(m.sort(v), v)", {"v": V}, False),
    ("m.interp(v, m.sort(v), v)", {"v": V}, False),
    ("m.linalg.norm(a) + m.linalg.norm(a, axis=1)", {"a": A}, True),
    ("m.linalg.norm(a, ord=1, axis=(0, 1)) + m.linalg.norm(v, ord=3)", {"a": A, "v": V}, True),
    ("m.linalg.inv(s) + m.linalg.pinv(s)", {"s": SQUARE}, True),
    ("m.linalg.det(s) * m.linalg.slogdet(s)[1]", {"s": SQUARE}, True),
    ("m.linalg.solve(s, a.T)", {"s": SQUARE, "a": A}, True),
    ("m.linalg.svd(a, full_matrices=False)[1]", {"a": A}, False),
    ("m.linalg.eigvalsh(s)", {"s": SQUARE}, False),
    ("m.linalg.cholesky(s)", {"s": SQUARE}, False),
    ("m.linalg.tensorinv(s, ind=1)", {"s": SQUARE}, True),
    ("m.linalg.tensorsolve(s, v)", {"s": SQUARE, "v": V}, True),
    ("m.linalg.matrix_rank(s)", {"s": SQUARE}, False),
    ("m.zeros_like(a) + m.ones_like(a) + m.full_like(a, 2.5)", {"a": A}, False),
    ("m.zeros((2, 3)) + m.ones(3) + m.full((2, 1), 4.0) + m.eye(2, 3, 1) + m.identity(3)[:2]", {}, False),
    ("m.arange(1, 10, 2) * m.linspace(0, 1, 5) + m.logspace(0, 2, 5)", {}, False),
    ("m.hanning(5) + m.hamming(5) + m.blackman(5) + m.indices((2, 5))[1, 0]", {}, False),
    # subscripts
    ("c[1, :, ::2] + c[0, 1, 2] + c[..., None, 0].sum()", {"c": CUBE}, True),
    ("c[[1, 0], 1:] * c[:, [0, 1]][0]", {"c": CUBE}, True),
    ("c[c > 0]", {"c": CUBE}, True),
    ("c[1, c[1] > 1]", {"c": CUBE}, True),
    ("c[(m.array([1, 0], dtype='int64'),)] + c[...] - c[()]", {"c": CUBE}, True),
    ("c[-1, -2][None, :, None]", {"c": CUBE}, True),
    ("c[:, 3:3]", {"c": CUBE}, False),
    ("v[1]", {"v": V}, True),
)  # fmt: skip


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


def _expression(text: str) -> str:
    # MXNet's svd gives the short form only, and has no keyword for it.
    return text.replace(", full_matrices=False", "")


@pytest.mark.parametrize("text, arrays, differentiable", CASES, ids=[text for text, _, _ in CASES])
def test_gives_what_numpy_gives(text: str, arrays: dict[str, Any], differentiable: bool) -> None:
    wanted = onp.asarray(eval(text, {"m": onp, **arrays}))
    given = {name: np.array(value, dtype="float64") for name, value in arrays.items()}
    for array in given.values():
        array.attach_grad()
    with autograd.record() if differentiable else autograd.pause():
        found = eval(_expression(text), {"m": np, **given})
    if not differentiable:
        found = found.asnumpy() if isinstance(found, np.ndarray) else onp.asarray(found)
        assert found.shape == wanted.shape
        kind = {"i": "iu", "u": "iu"}.get(wanted.dtype.kind, wanted.dtype.kind)
        assert onp.dtype(found.dtype).kind in kind
        onp.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
        return
    assert isinstance(found, np.ndarray) and found.shape == wanted.shape
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-9, atol=1e-10)
    head = onp.cos(onp.arange(wanted.size)).reshape(wanted.shape)
    found.backward(np.array(head, dtype="float64"))
    for name, array in given.items():
        slopes = onp.zeros(array.shape)
        for place in onp.ndindex(array.shape):
            slopes[place] = _slope(text, arrays, name, place, head)
        onp.testing.assert_allclose(array.grad.asnumpy(), slopes, rtol=2e-5, atol=2e-6, err_msg=name)


def _slope(text: str, arrays: dict[str, Any], name: str, place: Any, head: Any) -> float:
    step, values = 1e-6, []
    for sign in (1, -1):
        moved = arrays[name].copy()
        moved[place] += sign * step
        values.append(onp.sum(eval(text, {"m": onp, **arrays, name: moved}) * head))
    return float(values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize("namespace", ["", "linalg", "random", "npx", "npx.random"])
def test_every_function_is_public_documented_and_checks_its_arguments(namespace: str) -> None:
    for name, function in functions()[namespace].items():
        home: Any = mx
        for part in (
            f"np.{namespace}".rstrip(".").split(".") if not namespace.startswith("npx") else namespace.split(".")
        ):
            home = getattr(home, part)
        public = getattr(home, name)
        assert public.__doc__ and public.__doc__ == function.__doc__, f"{namespace}.{name} has no description"
        assert "F" not in inspect.signature(public).parameters
        with pytest.raises(TypeError):
            public(no_such_keyword=1)


def test_a_misspelt_function_is_named_with_the_closest_one() -> None:
    with pytest.raises(AttributeError, match="did you mean `concatenate`"):
        _ = np.concatenat


def test_numpys_own_functions_refuse_what_takes_gradients() -> None:
    x = np.array([1.0, 2.0])
    assert np.searchsorted(x, x).tolist() == [0, 1]
    x.attach_grad()
    with autograd.record(), pytest.raises(mx.MXNetError, match="no gradient flows"):
        np.polyfit(x, x * 2, 1)


def test_numpys_functions_accept_the_arrays() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(onp.mean(x, axis=0), np.ndarray) and onp.mean(x, axis=0).tolist() == [2, 3]
    assert isinstance(onp.add(x, 1), np.ndarray)
    assert isinstance(onp.concatenate([x, x]), np.ndarray)
    with pytest.raises(TypeError):
        onp.add(onp.ones((2, 2)), x)
