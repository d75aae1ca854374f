"""The containers and objects that a function can change besides its own variables: those in its closure, in the blocks
it knows, inside its arguments.

A function that is one side of a branch on a tensor runs while the graph is built, whatever the tensor will be; a list
that it appends to would keep that. So these are compared before and after.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.tensor.array import NDArray
from autohybrid.transform.block_state import is_own_attribute
from autohybrid.transform.undefined import Undefined

_DEPTH = 6
_PLAIN = (str, int, float, NDArray, type, types.ModuleType, Undefined)
_FOREIGN = ("autohybrid.", "numpy.", "builtins")


class Reachable:
    """What `function`, called on `arguments`, can reach, as it is now. The arguments themselves are its own."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
        self._kept: dict[int, tuple[Any, tuple[Any, ...]]] = {}
        self._seen: set[int] = set()
        self._cells: list[tuple[types.CellType, Any]] = []
        self._function(function, _DEPTH)
        for argument in arguments:
            for item in _items(argument) if isinstance(argument, (list, dict, tuple)) else (argument,):
                self._value(item, _DEPTH)

    def find_changed(self) -> Any:
        """The first container or object that is not what it was; None when all are."""
        for container, before in self._kept.values():
            now = _items(container)
            if len(now) != len(before) or any([a is not b for a, b in zip(now, before)]):
                return container
        return None

    def has_rebound(self) -> bool:
        """Whether a variable of an enclosing function has another value."""
        return any([_content(cell) is not before for cell, before in self._cells])

    def _function(self, function: Any, depth: int) -> None:
        if isinstance(function, functools.partial):
            self._function(function.func, depth)
            for value in (*function.args, *function.keywords.values()):
                self._value(value, depth - 1)
        elif isinstance(function, types.MethodType):
            self._function(function.__func__, depth)
            self._value(function.__self__, depth - 1)
        elif isinstance(function, types.FunctionType) and not str(function.__module__).startswith("autohybrid.tensor"):
            for cell in function.__closure__ or ():
                content = _content(cell)
                self._cells.append((cell, content))
                self._value(content, depth - 1)
            for value in function.__defaults__ or ():
                self._value(value, depth - 1)

    def _value(self, value: Any, depth: int) -> None:
        if depth <= 0 or value is None or isinstance(value, _PLAIN):
            return
        if id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, (list, dict, set)):
            self._kept[id(value)] = (value, _items(value))
        if isinstance(value, (list, tuple, dict, set)):
            for item in _items(value):
                self._value(item, depth - 1)
        elif hasattr(value, "_reg_params"):
            self._block(value, depth)
        elif callable(value):
            self._function(value, depth)
        elif hasattr(value, "__dict__") and not type(value).__module__.startswith(_FOREIGN):
            self._kept[id(value)] = (value, _items(value))
            for item in vars(value).values():
                self._value(item, depth - 1)

    def _block(self, block: Any, depth: int) -> None:
        """A block's attributes are merged (see branches.py), but what they hold can be changed in place."""
        for name, value in vars(block).items():
            if not is_own_attribute(name):
                self._value(value, depth - 1)
        for child in block._children.values():
            self._value(child, _DEPTH)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return None


def _items(container: Any) -> tuple[Any, ...]:
    if isinstance(container, dict):
        return (*container.keys(), *container.values())
    if isinstance(container, (list, tuple, set)):
        return tuple(container)
    return (*vars(container).keys(), *vars(container).values())
