"""`mx.nd`: imperative arrays. Operators come from the records on first use; the rest is imported here."""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from autohybrid.graph.cached_op import CachedOp
from autohybrid.ndarray import _internal, contrib, image, linalg, ndarray, op, random, sparse
from autohybrid.tensor import arithmetic as _arithmetic
from autohybrid.tensor import composites as _composites
from autohybrid.tensor import copying as _copying
from autohybrid.tensor import creation as _creation
from autohybrid.tensor import exchange as _exchange
from autohybrid.tensor import indexing as _indexing
from autohybrid.tensor import methods as _methods
from autohybrid.tensor import reshaping as _reshaping
from autohybrid.tensor import saving as _saving
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.composites import *  # noqa: F403 - the public functions are listed in its __all__
from autohybrid.tensor.creation import *  # noqa: F403
from autohybrid.tensor.exchange import *  # noqa: F403
from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.saving import *  # noqa: F403

# Methods with a Python signature of their own come first: those that records provide fill the rest.
for _module in (_arithmetic, _indexing, _copying, _reshaping, _composites, _exchange, _methods):
    _module.install(NDArray)
globals().update({r.function: _arithmetic.function_of(r) for r in _arithmetic.BINARY if r.function != "hypot"})
true_divide = globals()["divide"]

#: Modules of numpy mode, which are loaded when they are asked for.
_NUMPY_MODULES = {
    "np": "autohybrid.numpy",
    "numpy": "autohybrid.numpy",
    "npx": "autohybrid.numpy_extension",
    "numpy_extension": "autohybrid.numpy_extension",
}
_get_operator, __dir__ = _lazy_namespace(globals(), "", "autohybrid.ndarray", _call_operator)


def __getattr__(name: str) -> _Any:
    if name not in _NUMPY_MODULES:
        return _get_operator(name)
    module = globals()[name] = _importlib.import_module(_NUMPY_MODULES[name])
    return module


__all__ = [
    "CachedOp",
    "NDArray",
    "_internal",
    "contrib",
    "image",
    "linalg",
    "ndarray",
    "op",
    "random",
    "sparse",
    "true_divide",
]
__all__ += [name for m in (_composites, _creation, _exchange, _saving) for name in m.__all__]
