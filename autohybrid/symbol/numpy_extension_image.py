"""`mx.sym.npx.image`: the image operators on symbols of numpy mode."""

from autohybrid.graph.numpy_symbol import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

__getattr__, __dir__ = _lazy_namespace(globals(), "image", "autohybrid.symbol.numpy_extension.image", _call_operator)
