"""`mx.nd.random`: the functions that draw arrays; `*_like` come from the operator records on first use."""

from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.random import (
    exponential,
    gamma,
    generalized_negative_binomial,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    shuffle,
    uniform,
)

__getattr__, __dir__ = _lazy_namespace(globals(), "random", "autohybrid.ndarray.random", _call_operator)
__all__ = [
    "exponential", "gamma", "generalized_negative_binomial", "multinomial", "negative_binomial", "normal", "poisson",
    "randint", "randn", "shuffle", "uniform",
]  # fmt: skip
