"""`mx.np.linalg`: linear algebra with numpy's semantics."""

from __future__ import annotations

from typing import Any

from autohybrid.tensor import numpy_fallback as _numpy_fallback
from autohybrid.tensor.numpy_dialect import ARRAYS as _ARRAYS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

globals().update(_bound_namespace("linalg", _ARRAYS, "autohybrid.numpy.linalg"))


def __getattr__(name: str) -> Any:
    found = _numpy_fallback.find(name, linalg=True)
    if found is None:
        raise AttributeError(f"module 'autohybrid.numpy.linalg' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if not n.startswith("_")), *_numpy_fallback.LINALG_NAMES})
