"""`mx.sym.np`: the functions of `mx.np` on symbols."""

from __future__ import annotations

from autohybrid.graph.numpy_symbol import SYMBOLS as _SYMBOLS
from autohybrid.graph.numpy_symbol import NumpySymbol as _Symbol
from autohybrid.symbol import numpy_linalg as linalg
from autohybrid.symbol import numpy_random as random
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("", _SYMBOLS, "autohybrid.symbol.numpy"))
__all__ = ["_Symbol", "linalg", "random"]
