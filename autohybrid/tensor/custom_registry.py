"""The custom operators that users registered, by name. Knows no array library, so that the operator records can load.

What a session is and does is in `tensor/custom.py`, which registers the makers.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from autohybrid.errors import MXNetError

_makers: dict[str, Callable[[dict[str, str]], Any]] = {}


def register_maker(name: str, maker: Callable[[dict[str, str]], Any]) -> None:
    """Let `op_type=name` mean what `maker`, given the other attributes as text, makes; a later one replaces it."""
    _makers[name] = maker


def make_session(given: Mapping[str, str]) -> Any:
    """The session of a call with these attributes. Raises MXNetError when `op_type` is missing or not registered."""
    name = given.get("op_type")
    if name is None:
        raise MXNetError("operator Custom: `op_type`, the registered name of the operator, was not given")
    maker = _makers.get(name)
    if maker is None:
        close = difflib.get_close_matches(name, _makers, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; register it with `mx.operator.register`"
        raise MXNetError(f"operator Custom: no custom operator is registered as {name!r}{hint}")
    return maker({key: value for key, value in given.items() if key != "op_type"})
