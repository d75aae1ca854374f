"""Compile lowered text so that it reads, steps and fails on the user's own lines."""

from __future__ import annotations

import ast
import types
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from autohybrid.transform.lowered_text import LoweredText, Range

_FACTORY = "__autohybrid_factory__"


def compile_lowered(
    lowered: LoweredText, function: types.FunctionType, first_line: int, indent: int, owner: type | None
) -> Callable[..., Any]:
    """The function of `lowered`, in the globals and closure of `function`, whose source starts at `first_line` of its
    file, `indent` columns in. `owner` is the class that `super()` refers to."""
    tree = ast.parse(lowered.text)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    _strip(definition)
    places = _Places(lowered, first_line, indent)
    mangling = _Mangling(owner.__name__) if owner is not None and "__" in lowered.text else None
    for node in ast.walk(definition):
        places.move(node)
        if mangling is not None:
            mangling.spell(node)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["__class__"] = types.CellType(owner)
    factory = ast.parse(f"def {_FACTORY}({', '.join(cells)}):\n    pass\n    return {definition.name}")
    outer = factory.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body[0] = definition
    namespace: dict[str, Any] = {}
    exec(compile(factory, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    code = namespace[_FACTORY](*cells.values()).__code__
    # The cells are those of the function itself: what the enclosing function assigns later is seen here too.
    closure = tuple([cells.get(name) or types.CellType() for name in code.co_freevars])
    made: Any = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    made.source = lowered.text
    return made  # type: ignore[no-any-return]


class _Mangling:
    """Private names (`self.__size`) as Python spells them in a class body, which the emitted function has left."""

    def __init__(self, class_name: str) -> None:
        self.prefix = f"_{class_name.lstrip('_')}"

    def spell(self, node: ast.AST) -> None:
        """Rename what `node` itself names."""
        for field in ("attr", "id", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__") and self.prefix != "_":
                setattr(node, field, self.prefix + name)


def _strip(definition: ast.FunctionDef) -> None:
    """Defaults come from the original function; annotations need not be evaluated again."""
    arguments = definition.args
    arguments.defaults = [_none_for(d) for d in arguments.defaults]
    arguments.kw_defaults = [None if d is None else _none_for(d) for d in arguments.kw_defaults]
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None


def _none_for(default: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), default)


class _Places:
    """Gives every node of the emitted tree the place of the user's code that it stands for."""

    def __init__(self, lowered: LoweredText, first_line: int, indent: int) -> None:
        self.exact = dict(lowered.places)
        self.starts = sorted((emitted[:2], source) for emitted, source in lowered.places)
        self.keys = [key for key, _ in self.starts]
        self.first_line = first_line
        self.indent = indent
        self.lines = lowered.text.splitlines()

    def move(self, node: Any) -> None:
        """Give `node` its place, if its kind has one."""
        if not hasattr(node, "end_lineno"):
            return
        emitted: Range = (
            node.lineno,
            self._column(node.lineno, node.col_offset),
            node.end_lineno,
            self._column(node.end_lineno, node.end_col_offset),
        )
        source = self.exact.get(emitted) or self._nearest(emitted)
        node.lineno, node.end_lineno = source[0] + self.first_line - 1, source[2] + self.first_line - 1
        node.col_offset, node.end_col_offset = source[1] + self.indent, source[3] + self.indent

    def _nearest(self, emitted: Range) -> Range:
        """The place of the last known node that starts at or before this one."""
        index = bisect_right(self.keys, emitted[:2]) - 1
        if index < 0:
            return (1, 0, 1, 0)
        return self.starts[index][1]

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "replace"))
