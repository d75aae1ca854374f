"""`mx.util`: the switches of numpy mode and the environment, under MXNet's names."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from autohybrid.numpy_semantics import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    reset_np,
    set_np,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)

__all__ = [
    "get_gpu_count", "getenv", "is_np_array", "is_np_shape", "np_array", "np_shape", "reset_np", "set_module", "set_np",
    "set_np_shape", "setenv", "use_np", "use_np_array", "use_np_shape",
]  # fmt: skip


class _ArrayScopeType(type):
    @property
    def _current(cls) -> Any:
        return cls(is_np_array())

    @_current.setter
    def _current(cls, scope: Any) -> None:
        np_array(scope._is_np_array).__enter__()


class _NumpyArrayScope(metaclass=_ArrayScopeType):
    """MXNet's record of whether arrays are `mx.np` ones; assigning to `_current` switches this thread."""

    def __init__(self, is_np_array: bool) -> None:
        self._is_np_array = is_np_array


def getenv(name: str) -> str | None:
    """An environment variable, or None."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable; None removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def set_module(module: str) -> Callable[[Any], Any]:
    """A decorator that says which module a function or class is shown in."""

    def decorate(target: Any) -> Any:
        target.__module__ = module
        return target

    return decorate


def get_gpu_count() -> int:
    """How many CUDA devices there are."""
    import autohybrid

    return int(autohybrid.num_gpus())
