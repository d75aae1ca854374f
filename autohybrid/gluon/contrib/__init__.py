"""`gluon.contrib`: layers, cells and helpers beyond the core. Each part is loaded on first use."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'autohybrid.gluon.contrib' has no attribute '{name}'")
    return importlib.import_module(f"autohybrid.gluon.contrib.{name}")
