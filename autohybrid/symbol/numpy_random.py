"""`mx.sym.np.random`: random numbers in graphs of numpy mode."""

from autohybrid.graph.numpy_symbol import SYMBOLS as _SYMBOLS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("random", _SYMBOLS, "autohybrid.symbol.numpy.random"))
