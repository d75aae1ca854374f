"""`mx.sym`: symbolic graphs. Operators come from the records on first use; the rest is imported here."""

from __future__ import annotations

from autohybrid.graph import symbol_methods as _methods
from autohybrid.graph.compose import Group, Variable, load_json, var
from autohybrid.graph.compose import call_operator as _call_operator
from autohybrid.graph.symbol import Symbol
from autohybrid.symbol import _internal, contrib, image, linalg, random, sparse
from autohybrid.tensor.arithmetic import BINARY as _BINARY
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

_methods.install(Symbol)
globals().update(
    {row.function: _methods.function_of(row) for row in _BINARY if row.function in ("maximum", "minimum", "power", "hypot")}
)
pow = _methods.function_of(next(row for row in _BINARY if row.function == "power"))


def load(fname: str) -> Symbol:
    """A symbol from a `-symbol.json` file. Raises OSError, or MXNetError when it is not a graph."""
    with open(fname, "rb") as stream:
        return load_json(stream.read().decode("utf-8", "replace"))


__getattr__, __dir__ = _lazy_namespace(globals(), "", "autohybrid.symbol", _call_operator)
__all__ = [
    "Group", "Symbol", "Variable", "_internal", "contrib", "image", "linalg", "load", "load_json", "random", "sparse", "var",
]  # fmt: skip
