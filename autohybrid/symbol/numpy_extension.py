"""`mx.sym.npx`: neural operators on symbols of numpy mode."""

from __future__ import annotations

from autohybrid.graph.numpy_symbol import SYMBOLS as _SYMBOLS
from autohybrid.graph.numpy_symbol import call_operator as _call_operator
from autohybrid.symbol import numpy_extension_image as image
from autohybrid.symbol import numpy_extension_random as random
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("npx", _SYMBOLS, "autohybrid.symbol.numpy_extension"))
__getattr__, __dir__ = _lazy_namespace(globals(), "npx", "autohybrid.symbol.numpy_extension", _call_operator)
__all__ = ["image", "random"]
