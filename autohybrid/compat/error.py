"""`mx.error`: the exceptions that operators raise, by name."""

from __future__ import annotations

from typing import Any

from autohybrid.errors import MXNetError

__all__ = ["InternalError", "MXNetError", "register"]


class InternalError(MXNetError):
    """A fault of MXNet itself; autohybrid never raises it.

    Fails:     `raise mx.error.InternalError("...")`
    Repaired:  catch `mx.base.MXNetError`, which everything that operators raise is.
    """


#: Names that errors were registered under.
_registered: dict[str, type[Exception]] = {"InternalError": InternalError}


def register(func_name: Any = None, cls: Any = None) -> Any:
    """Give an exception class a name, its own or `func_name`; as a decorator, or with the class as the second argument.

    Nothing looks the names up: operators raise the classes themselves.
    """
    if callable(func_name):
        _registered[func_name.__name__] = func_name
        return func_name

    def decorate(error: type[Exception]) -> type[Exception]:
        _registered[func_name or error.__name__] = error
        return error

    return decorate if cls is None else decorate(cls)
