"""Nodes: walking a syntax tree. `ast.walk` does the same at twice the price."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def walk_nodes(*roots: ast.AST) -> Iterator[ast.AST]:
    """The roots and every node below them, in the order of `ast.walk`."""
    found: list[ast.AST] = list(roots)
    for node in found:
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found.extend(part for part in value if isinstance(part, ast.AST))
            elif isinstance(value, ast.AST):
                found.append(value)


def find_calls(roots: Iterable[ast.AST], name: str) -> list[ast.Call]:
    """The calls below `roots` of what has this last name: `name(...)`, `module.name(...)`."""
    found: list[ast.Call] = []
    for node in walk_nodes(*roots):
        if isinstance(node, ast.Call):
            function = node.func
            if (function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")) == name:
                found.append(node)
    return found
