"""`mx.sym.random`: the functions that add draws to a graph; `*_like` come from the operator records on first use."""

from autohybrid.graph.compose import call_operator as _call_operator
from autohybrid.graph.compose import make_call as _make_call
from autohybrid.graph.symbol import Symbol as _Symbol
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.random_functions import RandomFunctions as _RandomFunctions

# MXNet names these nodes after the private operator: `_random_uniform0`.
_functions = _RandomFunctions(_Symbol, lambda call: _make_call(call, call.registered), concrete=False)
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

__getattr__, __dir__ = _lazy_namespace(globals(), "random", "autohybrid.symbol.random", _call_operator)
__all__ = [
    "exponential", "gamma", "generalized_negative_binomial", "multinomial", "negative_binomial", "normal", "poisson",
    "randint", "randn", "shuffle", "uniform",
]  # fmt: skip
