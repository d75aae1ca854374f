"""`mx.sym.contrib`: operators of this group, made from the records on first use."""

from autohybrid.graph.compose import call_operator as _call_operator
from autohybrid.graph.symbol_control import cond, foreach, while_loop
from autohybrid.symbol.random import rand_zipfian, uniform
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

__getattr__, __dir__ = _lazy_namespace(globals(), "contrib", "autohybrid.symbol.contrib", _call_operator)
__all__ = ["cond", "foreach", "rand_zipfian", "uniform", "while_loop"]
