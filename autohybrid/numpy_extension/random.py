"""`mx.npx.random`: seeds, and draws that `mx.np.random` does not have."""

from __future__ import annotations

from autohybrid.tensor.numpy_dialect import ARRAYS as _ARRAYS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace
from autohybrid.tensor.random import seed

globals().update(_bound_namespace("npx.random", _ARRAYS, "autohybrid.numpy_extension.random"))
__all__ = ["seed"]
