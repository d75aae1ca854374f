"""`mx.nd.op`: the operators of `mx.nd` alone, made from the records on first use."""

from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

__getattr__, __dir__ = _lazy_namespace(globals(), "", "autohybrid.ndarray.op", _call_operator)
