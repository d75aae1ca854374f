"""CachedOp: a symbol as a function of arrays (`mx.nd.CachedOp`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.graph.interpreter import run
from autohybrid.graph.symbol import Symbol
from autohybrid.tensor.array import NDArray


class CachedOp:
    """Calls compute the symbol's outputs for arrays given in the order of `list_inputs()`; they can be recorded."""

    def __init__(self, sym: Symbol, flags: Sequence[Any] = (), thread_safe: bool = False) -> None:
        self._symbol = sym
        self._names = sym.list_inputs()

    def __call__(self, *args: NDArray, out: Any = None, default_ctx: Any = None, **kwargs: Any) -> Any:
        """One array, or a list of several. Raises ValueError for another number of arguments."""
        if len(args) != len(self._names):
            raise ValueError(f"CachedOp takes {len(self._names)} arrays ({', '.join(self._names)}), got {len(args)}")
        results = run(self._symbol._heads, dict(zip(self._names, args)))
        if out is not None:
            for target, value in zip([out] if isinstance(out, NDArray) else out, results):
                value.copyto(target)
            return out
        return results[0] if len(results) == 1 else results
