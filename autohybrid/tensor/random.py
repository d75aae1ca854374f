"""`mx.random`: seeding, and the functions that draw arrays."""

from __future__ import annotations

import numbers

from autohybrid.context import Context
from autohybrid.tensor import random_state
from autohybrid.tensor.array import NDArray
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
rand_zipfian = _functions.rand_zipfian


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
