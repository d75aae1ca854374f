"""`mx.nd.contrib`: operators of this group, made from the records on first use."""

from autohybrid.tensor.composites import isfinite, isinf, isnan
from autohybrid.tensor.control_flow import cond, foreach, while_loop
from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.random import rand_zipfian, uniform
from autohybrid.tensor.update_functions import (
    adamw_update,
    mp_adamw_update,
    multi_adamw_update,
    multi_lamb_update,
    multi_mp_adamw_update,
    multi_mp_lamb_update,
)

__getattr__, __dir__ = _lazy_namespace(globals(), "contrib", "autohybrid.ndarray.contrib", _call_operator)
__all__ = [
    "adamw_update",
    "cond",
    "foreach",
    "isfinite",
    "isinf",
    "isnan",
    "mp_adamw_update",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
    "rand_zipfian",
    "uniform",
    "while_loop",
]
