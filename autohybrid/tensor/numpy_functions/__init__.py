"""The functions of `mx.np`, `mx.np.linalg`, `mx.np.random` and `mx.npx` that have a Python signature of their own.

Each is written once, over a `Dialect` as its first parameter `F`, and serves arrays and symbols: a module here lists
its public functions in `FUNCTIONS` (name -> function) and says in `NAMESPACE` where they belong.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect


@cache
def functions() -> Mapping[str, Mapping[str, Callable[..., Any]]]:
    """Namespace ('', 'linalg', 'random', 'npx', 'npx.random') -> public name -> function over a dialect."""
    table: dict[str, dict[str, Callable[..., Any]]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        for name, function in module.FUNCTIONS.items():
            known = table.setdefault(module.NAMESPACE, {})
            if name in known:
                raise ValueError(f"two functions are named {module.NAMESPACE}.{name}")
            known[name] = function
    return MappingProxyType(table)


def bound(function: Callable[..., Any], F: Dialect, name: str, module: str) -> Callable[..., Any]:
    """The public function: without its first parameter, the dialect."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        return function(F, *args, **kwargs)

    public.__name__ = public.__qualname__ = name
    public.__module__ = module
    signature = inspect.signature(function)
    public.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for k, p in enumerate(signature.parameters.values()) if k]
    )
    return public


def bound_namespace(namespace: str, F: Dialect, module: str) -> dict[str, Callable[..., Any]]:
    """Every public function of a namespace, for one dialect."""
    return {name: bound(function, F, name, module) for name, function in functions().get(namespace, {}).items()}
