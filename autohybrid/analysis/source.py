"""SourceFile and SourceText: the text of one file and the way from `ast` positions to spans.

Owns nothing about meaning. `ast` counts UTF-8 bytes from 0; everything that leaves the analysis is a `Span` in
1-based code points (`autohybrid.spans`). Conversion happens only for what is reported.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from autohybrid.spans import Span, column_from_bytes


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to check: `path` as it shall be reported, its decoded `text`, its dotted `module` name if known.

    `cell` numbers the cell of a notebook (1-based): a cell is a file of its own, its spans count from its first line.
    `named` says that it was asked for by itself: then it is parsed, for its syntax errors, even if it says nothing of
    Gluon.
    """

    path: str
    text: str
    module: str | None = None
    cell: int | None = None
    named: bool = True


@dataclass(slots=True)
class SourceText:
    """The lines of a file, split once and only when a span or an excerpt is asked for."""

    path: str
    text: str
    _lines: list[str] | None = field(default=None)

    @property
    def lines(self) -> list[str]:
        """Lines without their ends, split as the tokenizer does (`\\n`, `\\r\\n`, `\\r` only)."""
        if self._lines is None:
            self._lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines

    def line(self, number: int) -> str:
        """The 1-based line, or an empty text outside the file."""
        lines = self.lines
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def span(self, node: ast.AST) -> Span:
        """The range of an expression or statement."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_offset = getattr(node, "end_col_offset", None)
        column = column_from_bytes(self.line(line), offset)
        end_column = column + 1 if end_offset is None else column_from_bytes(self.line(end_line), end_offset)
        return Span(self.path, line, column, end_line, end_column)

    def between(self, span: Span) -> str:
        """The text of `span`."""
        if span.line == span.end_line:
            return self.line(span.line)[span.column - 1 : span.end_column - 1]
        first = self.line(span.line)[span.column - 1 :]
        middle = [self.line(number) for number in range(span.line + 1, span.end_line)]
        return "\n".join([first, *middle, self.line(span.end_line)[: span.end_column - 1]])

    def excerpt(self, node: ast.AST, limit: int = 60) -> str:
        """The text of a node on one line, shortened to `limit` characters, for messages."""
        text = " ".join(self.between(self.span(node)).split())
        return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."
