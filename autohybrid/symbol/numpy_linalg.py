"""`mx.sym.np.linalg`: linear algebra on symbols, with numpy's semantics."""

from autohybrid.graph.numpy_symbol import SYMBOLS as _SYMBOLS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("linalg", _SYMBOLS, "autohybrid.symbol.numpy.linalg"))
