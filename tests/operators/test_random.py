"""Random operators: the right distribution in each of their three forms, fresh numbers on each call, the same numbers
under one seed. Bounds are six standard errors wide, and the seed is fixed, so that a pass is not luck."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autohybrid as mx
from autohybrid import nd
from autohybrid.errors import MXNetError

COUNT = 20000

# name, parameters as numbers, names of the attributes, mean, variance, least and greatest value
LAWS: list[tuple[str, dict[str, float], float, float, float, float]] = [
    ("uniform", {"low": -1.0, "high": 3.0}, 1.0, 16 / 12, -1.0, 3.0),
    ("normal", {"loc": 2.0, "scale": 0.5}, 2.0, 0.25, -math.inf, math.inf),
    ("gamma", {"alpha": 3.0, "beta": 2.0}, 6.0, 12.0, 0.0, math.inf),
    ("exponential", {"lam": 0.5}, 2.0, 4.0, 0.0, math.inf),
    ("poisson", {"lam": 4.0}, 4.0, 4.0, 0.0, math.inf),
    ("negative_binomial", {"k": 3, "p": 0.4}, 4.5, 11.25, 0.0, math.inf),
    ("generalized_negative_binomial", {"mu": 2.0, "alpha": 0.3}, 2.0, 3.2, 0.0, math.inf),
]
NAMES = [law[0] for law in LAWS]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    mx.random.seed(7)


def _check(values: np.ndarray[Any, Any], mean: float, variance: float, low: float, high: float) -> None:
    values = values.astype("float64").ravel()
    assert abs(values.mean() - mean) < 6 * math.sqrt(variance / values.size)
    assert abs(values.var() / variance - 1) < 0.15
    assert low <= values.min()
    assert values.max() <= high


def _draw(name: str, form: str, attrs: dict[str, float]) -> np.ndarray[Any, Any]:
    if form == "random":
        result = getattr(nd, f"random_{name}")(shape=(COUNT,), **attrs)
    elif form == "like":
        result = getattr(nd.random, f"{name}_like")(nd.zeros((COUNT,)), **attrs)
    else:
        parameters = [nd.array([value] * 2) for value in attrs.values()]
        result = getattr(nd, f"sample_{name}")(*parameters, shape=(COUNT // 2,))
        assert result.shape == (2, COUNT // 2)
    return result.asnumpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("form", ["random", "like", "sample"])
@pytest.mark.parametrize("name, attrs, mean, variance, low, high", LAWS, ids=NAMES)
def test_moments_and_range(
    form: str, name: str, attrs: dict[str, float], mean: float, variance: float, low: float, high: float
) -> None:
    _check(_draw(name, form, attrs), mean, variance, low, high)


@pytest.mark.parametrize("name, attrs, mean, variance, low, high", LAWS, ids=NAMES)
def test_each_call_draws_afresh_and_a_seed_repeats(
    name: str, attrs: dict[str, float], mean: float, variance: float, low: float, high: float
) -> None:
    draw = getattr(nd, f"random_{name}")
    mx.random.seed(3)
    first, second = draw(shape=(50,), **attrs).asnumpy(), draw(shape=(50,), **attrs).asnumpy()
    mx.random.seed(3)
    again = draw(shape=(50,), **attrs).asnumpy()
    assert (first == again).all()
    assert (first != second).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_dtype_is_what_was_asked_for(name: str, dtype: str) -> None:
    assert getattr(nd, f"random_{name}")(shape=(3, 2), dtype=dtype).dtype == np.dtype(dtype)
    assert getattr(nd.random, f"{name}_like")(nd.zeros((2,), dtype=dtype)).dtype == np.dtype(dtype)


def test_sampling_pairs_each_element_with_its_own_parameters() -> None:
    drawn = nd.sample_normal(nd.array([[0.0, 100.0]]), nd.array([[1.0, 5.0]]), shape=(4000,)).asnumpy()
    assert drawn.shape == (1, 2, 4000)
    _check(drawn[0, 0], 0.0, 1.0, -math.inf, math.inf)
    _check(drawn[0, 1], 100.0, 25.0, -math.inf, math.inf)


def test_a_dispersion_of_zero_is_poisson() -> None:
    drawn = nd.sample_generalized_negative_binomial(nd.array([4.0]), nd.array([0.0]), shape=(COUNT,)).asnumpy()
    _check(drawn, 4.0, 4.0, 0.0, math.inf)


def test_randint_covers_its_range_evenly() -> None:
    drawn = nd.random.randint(-2, 3, shape=(COUNT,))
    assert drawn.dtype == np.int32
    numbers, counts = np.unique(drawn.asnumpy(), return_counts=True)
    assert numbers.tolist() == [-2, -1, 0, 1, 2]
    assert (abs(counts / COUNT - 0.2) < 6 * math.sqrt(0.16 / COUNT)).all()


def test_multinomial_draws_classes_by_probability() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.0, 0.5]], "float32")
    classes, logs = nd.random.multinomial(nd.array(weights), shape=(COUNT,), get_prob=True)
    assert classes.dtype == np.int32
    for row, drawn, log in zip(weights, classes.asnumpy(), logs.asnumpy()):
        counts = np.bincount(drawn, minlength=3) / COUNT
        assert (abs(counts - row) < 6 * np.sqrt(row * (1 - row) / COUNT) + 1e-9).all()
        np.testing.assert_allclose(log, np.log(row[drawn]), rtol=1e-5)


def test_multinomial_gives_its_probabilities_a_gradient() -> None:
    data = nd.array([[0.25, 0.75]])
    data.attach_grad()
    with mx.autograd.record():
        classes, logs = nd.random.multinomial(data, shape=(40,), get_prob=True)
        loss = logs.sum()
    loss.backward()
    ones = classes.asnumpy().sum()
    np.testing.assert_allclose(data.grad.asnumpy(), [[(40 - ones) / 0.25, ones / 0.75]], rtol=1e-5)


def test_shuffle_permutes_whole_slices() -> None:
    rows = nd.arange(200).reshape((100, 2))
    mixed = nd.random.shuffle(rows).asnumpy()
    assert (mixed[:, 1] - mixed[:, 0] == 1).all()
    assert sorted(mixed[:, 0]) == list(range(0, 200, 2))
    assert (mixed != rows.asnumpy()).any()


def test_zipfian_classes_differ_within_a_row_and_prefer_small_numbers() -> None:
    classes, tries = nd._internal._sample_unique_zipfian(range_max=50, shape=(400, 5))
    drawn = classes.asnumpy()
    assert all(len(set(row)) == 5 for row in drawn)
    assert (tries.asnumpy() >= 5).all()
    assert (drawn >= 0).all() and (drawn < 50).all()
    assert (drawn < 7).mean() > 0.4  # a seventh of the range, about half of the weight


def test_rand_zipfian_expects_counts_by_the_log_uniform_law() -> None:
    true = nd.array([3.0])
    sampled, expected_true, expected_sampled = nd.contrib.rand_zipfian(true, 4, 5)
    assert sampled.shape == expected_sampled.shape == (4,)
    np.testing.assert_allclose(expected_true.asnumpy(), [math.log(5 / 4) / math.log(6) * 4], rtol=1e-6)
    wanted = np.log((sampled.asnumpy() + 2.0) / (sampled.asnumpy() + 1.0)) / math.log(6) * 4
    np.testing.assert_allclose(expected_sampled.asnumpy(), wanted, rtol=1e-6)


def test_python_functions_choose_the_operator_by_the_parameters() -> None:
    assert nd.random.uniform().shape == (1,)
    assert nd.random.normal(nd.zeros((2,)), nd.ones((2,)), shape=(3,)).shape == (2, 3)
    assert nd.random.randn(2, 3, loc=1, scale=2).shape == (2, 3)
    out = nd.zeros((2, 3), dtype="float64")
    assert nd.random.uniform(1, 2, out=out) is out
    assert (out.asnumpy() >= 1).all()
    _check(nd.random.exponential(3.0, shape=(COUNT,)).asnumpy(), 3.0, 9.0, 0.0, math.inf)


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: nd.random.uniform(0, "a", shape=2), AssertionError),
        (lambda: nd.random.uniform("a", 0, shape=2), ValueError),
        (lambda: nd.random.gamma(nd.ones((1,)), 2, shape=2), AssertionError),
        (lambda: nd.random.gamma(-1, 2, shape=2), MXNetError),
        (lambda: nd.random.normal(0, -1, shape=2), MXNetError),
        (lambda: nd.random.randint(5, 5, shape=2), MXNetError),
        (lambda: nd.random.randint(0.5, 5, shape=2), MXNetError),
        (lambda: nd.random.uniform(shape=2, dtype="int32"), MXNetError),
        (lambda: nd.random.multinomial([0.5, 0.5]), AssertionError),
        (lambda: mx.random.seed("a"), ValueError),
    ],
)
def test_invalid_arguments_are_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_symbols_draw_the_numbers_that_arrays_draw() -> None:
    low, high = mx.sym.var("low"), mx.sym.var("high")
    graph = mx.sym.random.uniform(low, high, shape=(3,)) + mx.sym.random.normal(0, 1, shape=(2, 3))
    arrays = {"low": nd.array([0.0, 10.0]), "high": nd.array([1.0, 20.0])}
    mx.random.seed(11)
    bound = graph.bind(mx.cpu(), arrays).forward()[0].asnumpy()
    mx.random.seed(11)
    direct = nd.random.uniform(arrays["low"], arrays["high"], shape=(3,)) + nd.random.normal(0, 1, shape=(2, 3))
    np.testing.assert_array_equal(bound, direct.asnumpy())
