"""`mx.contrib`: what MXNet 1.9.1 keeps apart from the rest. Imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

#: Public name -> module. The namespaces of operators are those of `nd` and `sym`.
_MODULES = {
    "amp": "autohybrid.contrib.amp",
    "autograd": "autohybrid.contrib.autograd",
    "io": "autohybrid.contrib.io",
    "nd": "autohybrid.ndarray.contrib",
    "ndarray": "autohybrid.ndarray.contrib",
    "sym": "autohybrid.symbol.contrib",
    "symbol": "autohybrid.symbol.contrib",
    "text": "autohybrid.contrib.text",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'autohybrid.contrib' has no attribute '{name}'")
    return importlib.import_module(module)
