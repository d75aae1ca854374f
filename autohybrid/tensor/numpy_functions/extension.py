"""The functions of `mx.npx` with a signature of their own; the others are the operators whose names begin so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autohybrid.tensor.numpy_dialect import Dialect

NAMESPACE = "npx"


def reshape(F: Dialect, a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> Any:
    """The elements in another shape. -1 follows from the others, -2 keeps an extent, -3 drops an extent of 1, -4 keeps
    all further ones, -5 multiplies two, -6 splits one into the two numbers behind it."""
    attrs = {} if order == "C" else {"order": order}
    return F.call("_npx_reshape", a, newshape=newshape, **({"reverse": True} if reverse else {}), **attrs)


def nonzero(F: Dialect, a: Any) -> Any:
    """The positions of the elements that are not 0, one row each."""
    return F.call("_npx_nonzero", a)


def constraint_check(F: Dialect, x: Any, msg: str) -> Any:
    """True; raises ValueError with `msg` when an element of a boolean array is false."""
    return F.call("_npx_constraint_check", x, msg=msg)


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (reshape, nonzero, constraint_check)}
