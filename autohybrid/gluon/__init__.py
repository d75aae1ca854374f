"""`mx.gluon`: blocks, parameters, layers, losses, training and data. Each part is loaded on first use."""

from __future__ import annotations

import importlib
from typing import Any

#: Public name -> module it comes from.
_PUBLIC: dict[str, str] = {
    "Block": "block",
    "Constant": "constant",
    "DeferredInitializationError": "parameter",
    "HybridBlock": "hybrid_block",
    "Parameter": "parameter",
    "ParameterDict": "parameter_dict",
    "SymbolBlock": "symbol_block",
    "Trainer": "trainer",
    "tensor_types": "parameter",
}
_MODULES = ("block", "contrib", "data", "loss", "model_zoo", "nn", "parameter", "rnn", "trainer", "utils")
__all__ = [*_PUBLIC, *_MODULES]


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is not None:
        value = getattr(importlib.import_module(f"autohybrid.gluon.{module}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"autohybrid.gluon.{name}")
    else:
        raise AttributeError(f"module 'autohybrid.gluon' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
