"""What BatchNorm does to its states, and the norms and linear algebra where single differences cannot see."""

from __future__ import annotations

import numpy as np
import pytest

import autohybrid as mx


def double(values: object) -> mx.nd.NDArray:
    """An array of float64, in which formulas are compared."""
    return mx.nd.array(values, dtype="float64")


def batch_norm_inputs() -> list[mx.nd.NDArray]:
    rng = np.random.default_rng(0)
    shapes = [(4, 3, 2), (3,), (3,), (3,), (3,)]
    return [double(rng.uniform(0.5, 1.5, size=s)) for s in shapes]


def test_moving_statistics_change_in_backward_not_in_forward() -> None:
    data, gamma, beta, mean, var = batch_norm_inputs()
    data.attach_grad()
    before = mean.asnumpy(), var.asnumpy()
    with mx.autograd.record():
        out = mx.nd.BatchNorm(data, gamma, beta, mean, var, fix_gamma=False, momentum=0.75)
    np.testing.assert_array_equal(mean.asnumpy(), before[0])
    out.backward()
    x = data.asnumpy()
    np.testing.assert_allclose(mean.asnumpy(), 0.75 * before[0] + 0.25 * x.mean((0, 2)))
    np.testing.assert_allclose(var.asnumpy(), 0.75 * before[1] + 0.25 * x.var((0, 2)))


def test_fix_gamma_writes_ones_and_gives_gamma_no_gradient() -> None:
    data, gamma, beta, mean, var = batch_norm_inputs()
    gamma.attach_grad()
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.BatchNorm(data, gamma, beta, mean, var)
    assert gamma.asnumpy().tolist() == [1, 1, 1]
    out.backward()
    assert gamma.grad.asnumpy().tolist() == [0, 0, 0]


def test_the_gradient_in_predict_mode_is_that_of_what_was_computed() -> None:
    data, gamma, beta, mean, var = batch_norm_inputs()
    data.attach_grad()
    with mx.autograd.record(train_mode=False):
        out = mx.nd.BatchNorm(data, gamma, beta, mean, var, fix_gamma=False)
    out.backward()
    slope = gamma.asnumpy() / np.sqrt(var.asnumpy() + 1e-3)
    np.testing.assert_allclose(data.grad.asnumpy(), np.broadcast_to(slope[:, None], data.shape))


@pytest.mark.parametrize("name", ["potrf", "syevd"])
def test_gradients_for_symmetric_matrices(name: str) -> None:
    """Differences along b of a function of b b^T + 1, which stays symmetric."""
    rng = np.random.default_rng(1)
    b, direction = rng.normal(size=(2, 3, 3))
    head = rng.normal(size=(3, 3))

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        leaf = double(values)
        leaf.attach_grad()
        with mx.autograd.record():
            matrix = mx.nd.linalg.syrk(leaf) + double(np.diag([1.0, 2.0, 4.0]))
            found = getattr(mx.nd.linalg, name)(matrix)
            part = found[0] if isinstance(found, list) else found
            total = (part * double(head)).sum()
        total.backward()
        return total.asscalar(), leaf.grad.asnumpy()

    step = 1e-6
    slope = (loss(b + step * direction)[0] - loss(b - step * direction)[0]) / (2 * step)
    assert (loss(b)[1] * direction).sum() == pytest.approx(slope, rel=1e-5)


def test_softmax_of_half_precision_into_single_is_exact_to_single() -> None:
    data = mx.nd.array(np.random.default_rng(2).normal(size=(2, 50)), dtype="float16")
    wide = data.astype("float32").asnumpy().astype("float64")
    expected = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    np.testing.assert_allclose(mx.nd.softmax(data, dtype="float32").asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("shape, axis", [((701, 999), 1), ((3, 300_000), -1), ((5, 400, 300), 1), ((600, 1000), 0)])
def test_large_softmax_is_the_same_in_blocks(shape: tuple[int, ...], axis: int) -> None:
    data = np.random.default_rng(3).normal(size=shape)
    expected = np.exp(data) / np.exp(data).sum(axis, keepdims=True)
    np.testing.assert_allclose(mx.nd.softmax(double(data), axis=axis).asnumpy(), expected)
    np.testing.assert_allclose(mx.nd.log_softmax(double(data), axis=axis).asnumpy(), np.log(expected), atol=1e-12)
