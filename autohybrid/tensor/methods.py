"""The methods that operators give to arrays: `x.relu()`, `x.sum(axis=0)`... taken from the records' `methods`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.array import NDArray
from autohybrid.tensor.frontend import make_function
from autohybrid.tensor.imperative import call_operator
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.ops import records


def install(cls: type[NDArray]) -> None:
    """Attach a method to `cls` for every name that a record lists; names that the class defines itself stay."""
    for op in records():
        for name in op.methods:
            if name not in vars(cls):
                setattr(cls, name, _method(op, name))


def _method(op: OpDef, name: str) -> Callable[..., Any]:
    method = make_function(op, name, call_operator)
    method.__qualname__ = f"NDArray.{name}"
    return method
