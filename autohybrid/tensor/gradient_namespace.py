"""The `F` that gradients receive on the tape: every operator by its registered name, private ones included."""

from __future__ import annotations

from functools import cache
from typing import Any

from autohybrid.tensor.frontend import make_function
from autohybrid.tensor.imperative import call_operator
from autohybrid.tensor.ops import get_operator


class OperatorNamespace:
    """`F.<registered name>` for any operator record; `make` turns a record into a callable."""

    def __getattr__(self, name: str) -> Any:
        try:
            op = get_operator(name)
        except KeyError:
            raise AttributeError(f"no operator named {name!r}") from None
        function = make_function(op, name, call_operator)
        setattr(self, name, function)
        return function


@cache
def gradient_namespace() -> OperatorNamespace:
    """The one namespace of NDArray operators."""
    return OperatorNamespace()
