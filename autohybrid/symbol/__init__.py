"""`mx.sym`: symbolic graphs. Operators come from the records on first use; the rest is imported here."""

from __future__ import annotations

import importlib as _importlib
from os import PathLike
from typing import Any as _Any

from autohybrid.errors import MXNetError
from autohybrid.graph import symbol_methods as _methods
from autohybrid.graph.compose import Group, Variable, load_json, var
from autohybrid.graph.compose import call_operator as _call_operator
from autohybrid.graph.symbol import Symbol
from autohybrid.graph.symbol_functions import arange, eye, full, histogram, linspace, ones, split_v2, zeros
from autohybrid.symbol import _internal, contrib, image, linalg, op, random, sparse
from autohybrid.tensor.arithmetic import BINARY as _BINARY
from autohybrid.tensor.modules import lazy_namespace as _lazy_namespace

_methods.install(Symbol)
globals().update(
    {
        row.function: _methods.function_of(row)
        for row in _BINARY
        if row.function in ("maximum", "minimum", "power", "hypot")
    }
)
pow = _methods.function_of(next(row for row in _BINARY if row.function == "power"))


def load(fname: str | PathLike[str]) -> Symbol:
    """A symbol from a `-symbol.json` file. Raises MXNetError when it cannot be read or is not a graph."""
    if not isinstance(fname, str | PathLike):
        raise TypeError(f"fname need to be string, not {type(fname).__name__}")
    try:
        with open(fname, "rb") as stream:
            text = stream.read().decode("utf-8", "replace")
    except OSError as error:
        raise MXNetError(f"cannot read {str(fname)!r}: {error.strerror or error}") from error
    try:
        return load_json(text)
    except MXNetError as error:
        raise MXNetError(f"{str(fname)!r}: {error}") from error


#: Modules of numpy mode, which are loaded when they are asked for.
_NUMPY_MODULES = {
    "np": "autohybrid.symbol.numpy",
    "numpy": "autohybrid.symbol.numpy",
    "npx": "autohybrid.symbol.numpy_extension",
    "numpy_extension": "autohybrid.symbol.numpy_extension",
}
_get_operator, __dir__ = _lazy_namespace(globals(), "", "autohybrid.symbol", _call_operator)


def __getattr__(name: str) -> _Any:
    if name not in _NUMPY_MODULES:
        return _get_operator(name)
    module = globals()[name] = _importlib.import_module(_NUMPY_MODULES[name])
    return module


__all__ = [
    "Group", "Symbol", "Variable", "_internal", "arange", "contrib", "eye", "full", "histogram", "image", "linalg",
    "linspace", "load", "load_json", "ones", "op", "random", "sparse", "split_v2", "var", "zeros",
]  # fmt: skip
