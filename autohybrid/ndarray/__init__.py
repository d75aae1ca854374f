"""`mx.nd`: imperative arrays. Operators come from the records on first use; the rest is imported here."""

from __future__ import annotations

from autohybrid.ndarray import _internal, contrib, image, linalg, random, sparse
from autohybrid.tensor import arithmetic as _arithmetic
from autohybrid.tensor import indexing as _indexing
from autohybrid.tensor import methods as _methods
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.creation import *  # noqa: F403 - the public functions are listed in its __all__
from autohybrid.tensor.imperative import call_operator as _call_operator
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace
from autohybrid.tensor.saving import *  # noqa: F403

_arithmetic.install(NDArray)
_indexing.install(NDArray)
_methods.install(NDArray)
globals().update({r.function: _arithmetic.function_of(r) for r in _arithmetic.BINARY if r.function != "hypot"})

__getattr__, __dir__ = _lazy_namespace(globals(), "", "autohybrid.ndarray", _call_operator)
__all__ = ["NDArray", "_internal", "contrib", "image", "linalg", "random", "sparse"]
