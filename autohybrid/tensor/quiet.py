"""Silence for NumPy's floating-point warnings inside kernels: overflow and invalid values are results, not events.

`numpy.errstate` costs more than a small kernel (0.5 us against 0.2 us). What it does inside - to set a context
variable and to reset it - is done here with a prepared value; a NumPy that keeps its state elsewhere gets `errstate`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def _prepared() -> tuple[Callable[[], Any], Callable[[Any], None]]:
    try:
        umath = importlib.import_module("numpy._core.umath")
        variable, value = umath._extobj_contextvar, umath._make_extobj(all="ignore")
    except (ImportError, AttributeError):
        return partial(np.seterr, all="ignore"), _restore
    return partial(variable.set, value), variable.reset


def _restore(saved: dict[str, Any]) -> None:
    np.seterr(**saved)


#: `token = hush()` silences the warnings in this thread or task until `unhush(token)`.
hush, unhush = _prepared()
