"""Operators under their `npx` names: run on `mx.np` arrays, giving such arrays."""

from __future__ import annotations

from typing import Any

import autohybrid.tensor.numpy_methods  # noqa: F401 - attaches what arrays can do
from autohybrid.tensor import imperative
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.frontend import BoundCall


def call_operator(call: BoundCall) -> Any:
    """Run a bound call: an `mx.np` array, or a list of several."""
    result = imperative.call_operator(call)
    if isinstance(result, NDArray):
        return result if call.out is not None else result.as_class(numpy=True)
    return [r.as_class(numpy=True) for r in result]
