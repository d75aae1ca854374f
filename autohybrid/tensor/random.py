"""`mx.random`: seeding, and the functions that draw arrays."""

from __future__ import annotations

import numbers
from math import log
from typing import Any

from autohybrid.context import Context, current_context
from autohybrid.tensor import random_state
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.gradient_namespace import gradient_namespace
from autohybrid.tensor.imperative import call_operator
from autohybrid.tensor.random_functions import RandomFunctions

__all__ = [
    "exponential", "gamma", "generalized_negative_binomial", "multinomial", "negative_binomial", "normal", "poisson",
    "randint", "randn", "seed", "shuffle", "uniform",
]  # fmt: skip

_functions = RandomFunctions(NDArray, call_operator, concrete=True)
uniform = _functions.uniform
normal = _functions.normal
randn = _functions.randn
poisson = _functions.poisson
exponential = _functions.exponential
gamma = _functions.gamma
negative_binomial = _functions.negative_binomial
generalized_negative_binomial = _functions.generalized_negative_binomial
randint = _functions.randint
multinomial = _functions.multinomial
shuffle = _functions.shuffle


def seed(seed_state: int, ctx: Context | str = "all") -> None:
    """Start the random numbers afresh from `seed_state`: of the device `ctx`, or of every one ('all').

    Imperative calls and hybridized blocks draw from the same stream. Numbers differ from MXNet's own. Raises
    ValueError when `seed_state` is no int.

    >>> import autohybrid as mx
    >>> mx.random.seed(1)
    """
    if not isinstance(seed_state, numbers.Integral):
        raise ValueError(f"random.seed: `seed_state` must be int, got {seed_state!r}")
    random_state.seed(int(seed_state), Context(ctx) if isinstance(ctx, Context) else "all")


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Class numbers below `range_max` drawn by the log-uniform distribution, for sampled softmax.

    Returns the `num_sampled` int64 samples, and how often each of `true_classes` and of the samples is expected among
    that many draws, as float64.
    """
    F: Any = gradient_namespace()
    span = log(range_max + 1)
    drawn = uniform(0, span, shape=(num_sampled,), dtype="float64", ctx=ctx or current_context())
    sampled = F.Cast(F.exp(drawn) - 1, dtype="int64") % range_max

    def expected(classes: NDArray) -> NDArray:
        wide = F.Cast(classes, dtype="float64")
        return F.log((wide + 2.0) / (wide + 1.0)) / span * num_sampled  # type: ignore[no-any-return]

    return sampled, expected(true_classes), expected(sampled)
