"""`mx.np.random`: random numbers in `mx.np` arrays. `mx.npx.random.seed` (or `mx.random.seed`) seeds them."""

from __future__ import annotations

from autohybrid.tensor.numpy_dialect import ARRAYS as _ARRAYS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("random", _ARRAYS, "autohybrid.numpy.random"))
