"""`mx.sym.op`: the operators of `mx.sym` alone, made from the records on first use."""

from autohybrid.graph.compose import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

__getattr__, __dir__ = _lazy_namespace(globals(), "", "autohybrid.symbol.op", _call_operator)
