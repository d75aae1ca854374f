"""The emitted functions of a class as text, from its source file alone: nothing of it is imported or run."""

from __future__ import annotations

import ast
import textwrap
import tokenize
from dataclasses import dataclass

from autohybrid.errors import MXNetError
from autohybrid.transform.beside import beside
from autohybrid.transform.lower_source import lower_source

_METHODS = ("hybrid_forward", "forward")


@dataclass(frozen=True, slots=True)
class EmittedMethod:
    """One method: its own source, the function that hybridize() makes of it, and both in two columns. `line` is where
    it starts."""

    name: str
    line: int
    source: str
    emitted: str
    beside: str


def emitted_methods(path: str, class_name: str) -> list[EmittedMethod]:
    """The emitted form of every method of the class that a graph runs, in the order of the file.

    Raises OSError, SyntaxError, and MXNetError when the file has no such class, or the class no such method.
    """
    with tokenize.open(path) as stream:
        text = stream.read()
    tree = ast.parse(text, path)
    cls = _find_class(tree, class_name)
    if cls is None:
        names = [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
        raise MXNetError(f"{path} has no class `{class_name}`; it has {', '.join(names) or 'none'}")
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    methods = {n.name: n for n in cls.body if isinstance(n, ast.FunctionDef)}
    start = next((m for m in _METHODS if m in methods), None)
    if start is None:
        raise MXNetError(f"`{class_name}` in {path} defines neither `hybrid_forward` nor `forward`; see its base class")
    lines = text.splitlines(keepends=True)
    wanted = _reachable(start, methods)
    return [_emit(methods[n], lines, functions, set(methods)) for n in methods if n in wanted]


def _find_class(tree: ast.Module, name: str) -> ast.ClassDef | None:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == name]
    return found[0] if found else None


def _reachable(start: str, methods: dict[str, ast.FunctionDef]) -> set[str]:
    """Methods that `start` calls on self, directly or not."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        name = pending.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        pending += [
            n.func.attr
            for n in ast.walk(methods[name])
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and isinstance(n.func.value, ast.Name)
            and n.func.value.id == "self"
        ]
    return seen


def _emit(method: ast.FunctionDef, lines: list[str], functions: set[str], methods: set[str]) -> EmittedMethod:
    first = min([method.lineno, *[d.lineno for d in method.decorator_list]])
    source = textwrap.dedent("".join(lines[first - 1 : method.end_lineno]))

    def is_own(path: str) -> bool:
        head, _, rest = path.partition(".")
        return rest in methods if head == "self" else path in functions

    lowered = lower_source(source, 1 if method.name == "hybrid_forward" else None, is_own)
    columns = beside(source, first, lowered)
    return EmittedMethod(method.name, method.lineno, source.rstrip("\n"), lowered.text.rstrip("\n"), columns)
