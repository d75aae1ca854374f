"""Reading and rewriting LibCST trees without white space, and their text with the places of the nodes in it.

LibCST's own visitors rebuild every node that they pass, and its metadata visits a tree several times; lowering looks at
the same statements again and again, so it walks the fields that hold syntax instead, and keeps what does not change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

import libcst as cst
from libcst.metadata import PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from autohybrid.transform.lowered_text import Range

_NodeT = TypeVar("_NodeT", bound=cst.CSTNode)
_LAYOUT = frozenset(
    "asynchronous colon comma comment dot equal first_colon first_line footer header indent last_line lbrace "
    "lbracket leading_lines leading_whitespace lines_after_decorators lpar newline operator posonly_ind rbrace "
    "rbracket rpar second_colon semicolon separator trailing_comma trailing_whitespace".split()
)


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a kind of node that hold names, expressions and statements."""
    named = [field.name for field in dataclasses.fields(kind)]
    return tuple([n for n in named if n not in _LAYOUT and not n.startswith("whitespace")])


@cache
def _is_node(kind: type) -> bool:
    return issubclass(kind, cst.CSTNode)


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The names, expressions and statements that `node` is made of, in the order of its fields."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind: Any = type(value)
        if kind is tuple or kind is list:
            yield from value
        elif _is_node(kind):
            yield value


def walk(node: cst.CSTNode, closed: tuple[type[cst.CSTNode], ...] = ()) -> Iterator[cst.CSTNode]:
    """`node` and everything inside it; nodes of the kinds `closed` without what is inside them."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, closed):
            pending.extend(children(node))


def rebuild(node: _NodeT, change: Callable[[cst.CSTNode], cst.CSTNode]) -> _NodeT:
    """`node` with every child replaced by `change(child)`; `node` itself when no child changes."""
    changes: dict[str, object] = {}
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind: Any = type(value)
        if kind is tuple or kind is list:
            made = [change(item) for item in value]
            if any([a is not b for a, b in zip(made, value)]):
                changes[name] = made
        elif _is_node(kind):
            new: object = change(value)
            if new is not value:
                changes[name] = new
    return node.with_changes(**changes) if changes else node


def positions(module: cst.Module) -> dict[int, Range]:
    """The range of every node of a module (by `id`), without white space around it."""
    text = _Text(module)
    module._codegen(text)
    return text.ranges


def code_and_places(module: cst.Module) -> tuple[str, list[tuple[cst.CSTNode, Range]]]:
    """The text of a module, and the range of every node in it, once for each place where it stands."""
    text = _Text(module)
    module._codegen(text)
    return "".join(text.tokens), text.places


class _Text(PositionProvidingCodegenState):
    """Collects the text of a module as LibCST writes it, and where each node begins and ends.

    The ranges are those of LibCST's PositionProvider, which does the same with more ceremony.
    """

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module.default_indent, module.default_newline, PositionProvider())
        self.ranges: dict[int, Range] = {}
        self.places: list[tuple[cst.CSTNode, Range]] = []
        self._starts: list[tuple[int, int]] = []
        self._exact: dict[int, Range] = {}

    def add_token(self, value: str) -> None:
        self.tokens.append(value)
        if "\n" in value or "\r" in value:
            self._update_position(value)
        else:
            self.column += len(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._starts.append((self.line, self.column))

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        found = self._exact.pop(id(node), None) or (*start, self.line, self.column)
        self.ranges[id(node)] = found
        self.places.append((node, found))

    def record_syntactic_position(  # type: ignore[override]  # a context manager too, made without a generator
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Exact:
        return _Exact(self, node, start_node, end_node)


class _Exact:
    """Notes the range of a node without the white space it owns: from here to the end of the `with` block."""

    __slots__ = ("end_node", "node", "start", "start_node", "text")

    def __init__(
        self, text: _Text, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.text, self.node, self.start_node, self.end_node = text, node, start_node, end_node
        self.start = (text.line, text.column)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        text, ranges = self.text, self.text.ranges
        start = self.start if self.start_node is None else ranges[id(self.start_node)][:2]
        end = (text.line, text.column) if self.end_node is None else ranges[id(self.end_node)][2:]
        text._exact[id(self.node)] = (*start, *end)
