"""Site: a finding seen in the syntax tree of its file, with what the analysis knows of each expression there.

Made only when a fix is asked for. Texts are taken from the file as the user wrote them; the tree serves to find their
ranges, so that a fix changes the bytes of its edits and no other.
"""

from __future__ import annotations

import ast
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from autohybrid.analysis.entries import run_block
from autohybrid.analysis.fields import ConstructorFields
from autohybrid.analysis.frame import Session
from autohybrid.analysis.index import ProjectIndex
from autohybrid.analysis.interpreter import SourceInterpreter
from autohybrid.analysis.project import quietly, run_entries
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile, SourceText
from autohybrid.analysis.values import NEVER, Namespace, Static, Value, tensors_in
from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.spans import Span, column_from_bytes

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Place = tuple[int, int, int, int]


def place_of(node: ast.AST) -> Place:
    """The range of a node as `ast` counts it."""
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


class ParsedFile:
    """A file that parses: its text, its tree, the parent of every node, and the values of its expressions."""

    def __init__(self, path: str, text: SourceText, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self._values: dict[str, Mapping[Place, Value]] = {}

    @cached_property
    def places(self) -> Mapping[Place, list[ast.AST]]:
        """The nodes of every range, outermost first."""
        places: dict[Place, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            places.setdefault(place_of(node), []).append(node)
        return places

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The node around every node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _index(self) -> ProjectIndex:
        return ProjectIndex([SourceFile(self.path, self.text.text)])

    def values(self, owner: str) -> Mapping[Place, Value]:
        """What the analysis knows of each expression of a class, or of the whole file for an empty name, from this file
        alone; computed at the first need."""
        if owner not in self._values:
            self._values[owner] = self._find_values(owner)
        return self._values[owner]

    def _find_values(self, owner: str) -> Mapping[Place, Value]:
        # A session of its own for each class: one remembers what it ran and would not record it a second time.
        session = Session(self._index, AnalysisSettings(), SourceInterpreter(), ConstructorFields, run_block)
        session.records = {}
        with quietly():
            module = session.index.module_of(self.path)
            info = session.index.find_class(self.path, owner) if owner else None
            if info is not None:
                session.result_of(info)
            elif module is not None:
                run_entries(session, module)
        return {place_of(node): value for node, value in session.records.items()}


class ParsedFiles:
    """The parsed files of the texts last asked for, at most `limit`; a changed text takes the place of the old one."""

    def __init__(self, limit: int = 8) -> None:
        self._limit = limit
        self._files: dict[str, tuple[str, ParsedFile | None]] = {}

    def get(self, path: str, text: str) -> ParsedFile | None:
        """The parsed file, or None when it does not parse."""
        known = self._files.pop(path, None)
        if known is None or known[0] != text:
            known = (text, parse_file(path, text))
        self._files[path] = known
        if len(self._files) > self._limit:
            del self._files[next(iter(self._files))]
        return known[1]


def parse_file(path: str, text: str) -> ParsedFile | None:
    """The parsed file, or None when it does not parse."""
    try:
        with quietly():
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return ParsedFile(path, SourceText(path, text), tree)


@dataclass(frozen=True)
class Site:
    """A finding and its place in the tree. `assumed` is a name for the namespace where the function has none."""

    file: ParsedFile
    finding: Diagnostic
    assumed: str = ""

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes that the finding marks, outermost first."""
        span = self.finding.span
        start = _byte_column(self.file.text.line(span.line), span.column)
        end = _byte_column(self.file.text.line(span.end_line), span.end_column)
        return self.file.places.get((span.line, start, span.end_line, end), [])

    def find(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> ast.AST | None:
        """The marked node of one kind."""
        return next((node for node in self.nodes if isinstance(node, kind)), None)

    # -- the tree ---------------------------------------------------------------------------------------------------
    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.file.parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, inside out."""
        current = self.file.parents.get(node)
        while current is not None:
            yield current
            current = self.file.parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node is or belongs to."""
        return next((item for item in (node, *self.above(node)) if isinstance(item, ast.stmt)), None)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The function around a node, lambdas apart."""
        return next((item for item in self.above(node) if isinstance(item, FunctionNode)), None)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        """The class around a node."""
        return next((item for item in self.above(node) if isinstance(item, ast.ClassDef)), None)

    def body_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement stands in."""
        parent = self.parent(statement)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and statement in body:
                return body
        return []

    def space(self, node: ast.AST) -> str:
        """The name of `F` at a node, empty where there is none."""
        for function in self.above(node):
            if isinstance(function, FunctionNode):
                names = [argument.arg for argument in function.args.args]
                if function.name == "hybrid_forward" and len(names) > 1:
                    return names[1]
                if "F" in names:
                    return "F"
        return self.assumed

    # -- texts and values -------------------------------------------------------------------------------------------
    def text(self, node: ast.AST) -> str:
        """The user's text of a node."""
        return self.file.text.between(self.file.text.span(node))

    def spliced(self, node: ast.AST, texts: Mapping[ast.AST, str]) -> str:
        """The user's text of a node with some nodes inside it replaced."""
        whole = self.file.text.span(node)
        parts: list[str] = []
        line, column = whole.line, whole.column
        for inner in sorted(texts, key=place_of):
            span = self.file.text.span(inner)
            parts += [self.file.text.between(Span(whole.path, line, column, span.line, span.column)), texts[inner]]
            line, column = span.end_line, span.end_column
        return "".join(
            [*parts, self.file.text.between(Span(whole.path, line, column, whole.end_line, whole.end_column))]
        )

    def value(self, node: ast.AST) -> Value:
        """What the analysis knows of an expression; NEVER where it was not reached."""
        return self.file.values(self._owner_name).get(place_of(node), NEVER)

    @cached_property
    def _owner_name(self) -> str:
        """The hybrid block whose method the finding is in; empty for a finding elsewhere, which any block may reach."""
        node = next(iter(self.nodes), None)
        function = None if node is None else self.function(node)
        owner = None if node is None else self.owner(node)
        return owner.name if owner is not None and function is not None and function.name == "hybrid_forward" else ""

    def is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression is certainly, or most likely, a tensor of the graph."""
        tensor, _ = tensors_in(self.value(node))
        return tensor is not None and tensor.graph

    def is_number(self, node: ast.AST) -> bool:
        """Whether an expression is certainly a Python number."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        value = self.value(node)
        return isinstance(value, Static) and value.type in ("int", "float", "bool")

    def is_namespace(self, node: ast.AST) -> bool:
        """Whether an expression is `F`, `mx.nd`, or a part of them."""
        return isinstance(self.value(node), Namespace)

    # -- edits ------------------------------------------------------------------------------------------------------
    def edit(self, node: ast.AST, content: str) -> Edit:
        """Replace a node."""
        return Edit(self.file.text.span(node), content)

    def insert(self, node: ast.AST, content: str) -> Edit:
        """Insert before a node."""
        span = self.file.text.span(node)
        return Edit(Span(span.path, span.line, span.column, span.line, span.column), content)

    def append(self, node: ast.AST, content: str) -> Edit:
        """Insert after a node."""
        span = self.file.text.span(node)
        return Edit(Span(span.path, span.end_line, span.end_column, span.end_line, span.end_column), content)

    def indent(self, statement: ast.stmt) -> str:
        """The white space before a statement that starts its line."""
        return self.file.text.line(statement.lineno)[: statement.col_offset]

    def removal(self, statement: ast.stmt) -> tuple[Edit, ...]:
        """Remove a statement with its line; `pass` stays where a block would be empty. Comments on other lines stay."""
        body = self.body_of(statement)
        if len(body) == 1 or not self.stands_alone(statement):
            parent = self.parent(statement)
            if len(body) == 1 and isinstance(parent, ast.If | ast.With | ast.For) and not getattr(parent, "orelse", []):
                return self.removal(parent)
            return (self.edit(statement, "pass"),)
        last = statement.end_lineno or statement.lineno
        return (Edit(Span(self.file.path, statement.lineno, 1, last + 1, 1), ""),)

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether nothing else stands on the lines of a statement."""
        span = self.file.text.span(statement)
        rest = self.file.text.line(span.end_line)[span.end_column - 1 :]
        return not self.indent(statement).strip() and (not rest.strip() or rest.lstrip().startswith("#"))

    def restated(self, first: ast.stmt, last: ast.stmt, text: str) -> Edit:
        """Replace the statements from `first` to `last`; the comments among them move above the new text."""
        start, end = self.file.text.span(first), self.file.text.span(last)
        span = Span(start.path, start.line, start.column, end.end_line, end.end_column)
        comments = _comments(self.file.text.between(span))
        return Edit(span, f"\n{self.indent(first)}".join([*comments, text]))

    def names_in(self, node: ast.AST) -> set[str]:
        """The names that appear in a node."""
        return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}

    def free_name(self, wanted: str, node: ast.AST) -> str:
        """A name that the function around a node does not use yet."""
        function = self.function(node) or self.file.tree
        taken = self.names_in(function) | {item.arg for item in ast.walk(function) if isinstance(item, ast.arg)}
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def assuming(self, name: str) -> Site:
        """The same site with a name for a namespace that the function does not have."""
        return replace(self, assumed=name)


def make_fix(message: str, edits: Iterable[Edit], safety: Applicability = UNSAFE) -> Fix:
    """A fix of these edits."""
    return Fix(message, tuple(edits), safety)


def is_receiver(site: Site, node: ast.expr) -> bool:
    """Whether a method read from an expression is one of a class of this file: `self`, `cls`, or a class's name."""
    text = site.text(node)
    names = {item.name for item in site.file.tree.body if isinstance(item, ast.ClassDef)}
    return text in ("self", "cls") or text in names


def needs_brackets(node: ast.expr) -> bool:
    """Whether an expression needs parentheses as the receiver of a method or the operand of an operator."""
    return not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)


def _comments(text: str) -> list[str]:
    """The comments in a piece of source."""
    if "#" not in text:
        return []
    lines = iter(textwrap.dedent(f"if True:\n{text}\n").splitlines(keepends=True))
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.COMMENT:
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


def _byte_column(line: str, column: int) -> int:
    if line.isascii():
        return column - 1
    offset = 0
    while offset <= len(line.encode()) and column_from_bytes(line, offset) < column:
        offset += 1
    return offset
