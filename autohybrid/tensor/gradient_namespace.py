"""The `F` that gradients receive on the tape: every operator by its registered name, private ones included."""

from __future__ import annotations

from functools import cache
from typing import Any

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.frontend import make_function
from autohybrid.tensor.imperative import call_operator, invoke
from autohybrid.tensor.numpy_array import DENSE
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import get_operator


class OperatorNamespace:
    """`F.<registered name>` for any operator record."""

    def _unbroadcast(self, data: NDArray, like: NDArray) -> NDArray:
        """The operator `_unbroadcast`; an array that has the shape already passes as it is, without a copy."""
        if type(data) in DENSE and type(like) in DENSE and data._data.shape == like._data.shape:
            return data
        return invoke(*_unbroadcast(), (data, like))  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        try:
            op = get_operator(name)
        except KeyError:
            raise AttributeError(f"no operator named {name!r}") from None
        function = make_function(op, name, call_operator)
        setattr(self, name, function)
        return function


@cache
def _unbroadcast() -> tuple[OpDef, Attrs]:
    op = get_operator("_unbroadcast")
    return op, op.parse({})


@cache
def gradient_namespace() -> OperatorNamespace:
    """The one namespace of NDArray operators."""
    return OperatorNamespace()
