"""`mx.sym.npx.random`: draws on symbols that `mx.sym.np.random` does not have."""

from autohybrid.graph.numpy_symbol import SYMBOLS as _SYMBOLS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("npx.random", _SYMBOLS, "autohybrid.symbol.numpy_extension.random"))
