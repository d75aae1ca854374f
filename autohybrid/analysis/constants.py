"""Constants given to constructor arguments: the default, and what calls of the class in the project pass.

A field such as `self.groups` can hold anything; whether it is ever 1 decides what `F.split` gives. The calls are read
only when that question comes up.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autohybrid.analysis.index import ClassInfo, FunctionNode, ModuleInfo

if TYPE_CHECKING:
    from autohybrid.analysis.frame import Session


class GivenConstants:
    """The constants given to constructor arguments, found on demand and kept."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[object, str], frozenset[object]] = {}
        self._calls: dict[tuple[str, str], list[ast.Call]] = {}

    def given(self, field: tuple[object, str]) -> frozenset[object]:
        """The constants of the argument `(class, name)`: its default and those of calls."""
        known = self._known.get(field)
        if known is None:
            info, name = field
            known = self._find(info, name) if isinstance(info, ClassInfo) else frozenset()
            self._known[field] = known
        return known

    def _find(self, info: ClassInfo, name: str) -> frozenset[object]:
        definition = info.methods.get("__init__")
        if definition is None:
            return frozenset()
        found: set[object] = set()
        place, default = _place_of(definition, name)
        if default is not None:
            _add(found, default)
        for module in self._session.index.parsed:
            if info.name in module.file.text:
                for call in self._calls_in(module, info.name):
                    given = _given(call, place, name)
                    if given is not None:
                        _add(found, given)
        return frozenset(found)

    def _calls_in(self, module: ModuleInfo, name: str) -> list[ast.Call]:
        key = (module.file.path, name)
        known = self._calls.get(key)
        if known is None:
            known = self._calls[key] = module.calls_of(name)
        return known


def _place_of(definition: FunctionNode, name: str) -> tuple[int, ast.expr | None]:
    names = [parameter.arg for parameter in definition.args.args]
    if name in names:
        place = names.index(name)
        offset = place - (len(names) - len(definition.args.defaults))
        return place - 1, definition.args.defaults[offset] if offset >= 0 else None
    for parameter, default in zip(definition.args.kwonlyargs, definition.args.kw_defaults):
        if parameter.arg == name:
            return -1, default
    return -1, None


def _add(found: set[object], node: ast.expr) -> None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bool | None):
        found.add(node.value)


def _given(call: ast.Call, place: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if 0 <= place < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args[: place + 1]):
        return call.args[place]
    return None
