"""`mx.np`: functions and arrays with numpy's semantics, as MXNet 1.9.1 has them."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as _numpy

import autohybrid.ndarray  # noqa: F401 - attaches what `mx.np` arrays inherit
from autohybrid.numpy import linalg as linalg
from autohybrid.numpy import random as random
from autohybrid.tensor import numpy_fallback as _numpy_fallback
from autohybrid.tensor import numpy_methods as _numpy_methods  # noqa: F401 - attaches what arrays can do
from autohybrid.tensor.numpy_array import array as array
from autohybrid.tensor.numpy_array import ndarray as ndarray
from autohybrid.tensor.numpy_dialect import ARRAYS as _ARRAYS
from autohybrid.tensor.numpy_functions import bound_namespace as _bound_namespace

float16, float32, float64 = _numpy.float16, _numpy.float32, _numpy.float64
int8, int32, int64, uint8 = _numpy.int8, _numpy.int32, _numpy.int64, _numpy.uint8
bool_ = _numpy.bool_
pi, e, inf, nan, newaxis = _numpy.pi, _numpy.e, _numpy.inf, _numpy.nan, None
NAN = NaN = nan
PINF, NINF, PZERO, NZERO = inf, -inf, 0.0, -0.0
finfo, iinfo, dtype = _numpy.finfo, _numpy.iinfo, _numpy.dtype

globals().update(_bound_namespace("", _ARRAYS, "autohybrid.numpy"))


def set_printoptions(precision: int | None = None, threshold: int | None = None, **kwarg: Any) -> None:
    """How arrays are printed: numpy's own options."""
    _numpy.set_printoptions(precision=precision, threshold=threshold, **kwarg)


def __getattr__(name: str) -> Any:
    if name == "bool":
        return _numpy.bool_
    found = _numpy_fallback.find(name)
    if found is None:
        known = [n for n in (*globals(), *_numpy_fallback.NAMES) if not n.startswith("_")]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean `{close[0]}`?" if close else ""
        raise AttributeError(f"module 'autohybrid.numpy' has no attribute '{name}'{hint}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if not n.startswith("_")), *_numpy_fallback.NAMES})


__all__ = [n for n in globals() if not n.startswith("_") and n not in ("annotations", "difflib", "Any")]
