"""Positions: between spans (1-based, code points) and the protocol's positions (0-based, in an agreed encoding)."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from lsprotocol import types

from autohybrid.spans import Span

UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
_LINE_END = re.compile(r"\r\n|\r|\n")


def units_of(text: str, encoding: str) -> int:
    """The length of a text in code units of `encoding`.

    >>> [units_of("x\N{GRINNING FACE}", name) for name in (UTF8, UTF16, UTF32)]
    [5, 3, 2]
    """
    if encoding == UTF32 or text.isascii():
        return len(text)
    if encoding == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def prefix_of(line: str, units: int, encoding: str) -> int:
    """How many characters of `line` the first `units` code units are; past its end, all of them."""
    if encoding == UTF32 or line.isascii():
        return min(units, len(line))
    taken = 0
    for count, character in enumerate(line):
        if taken >= units:
            return count
        taken += units_of(character, encoding)
    return len(line)


@dataclass(slots=True)
class Lines:
    """A text by lines, split where the protocol and Python split (`\\n`, `\\r\\n`, `\\r`), with their offsets."""

    text: str
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if "\r" in self.text:
            ends = list(_LINE_END.finditer(self.text))
            self._starts = [0, *(match.end() for match in ends)]
            self._ends = [*(match.start() for match in ends), len(self.text)]
        else:
            self._ends = list(accumulate((len(line) + 1 for line in self.text.split("\n")), initial=-1))[1:]
            self._starts = [0, *(end + 1 for end in self._ends[:-1])]

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def line_end(self) -> str:
        """How the first line of the text ends; a newline where there is only one line."""
        return self.text[self._ends[0] : self._starts[1]] if len(self) > 1 else "\n"

    def line(self, number: int) -> str:
        """The 1-based line without its end; empty outside the text."""
        return self.text[self._starts[number - 1] : self._ends[number - 1]] if 0 < number <= len(self) else ""

    def offset(self, position: types.Position, encoding: str) -> int:
        """The offset of a position; one past the end of a line or of the text is moved there."""
        if position.line >= len(self):
            return len(self.text)
        return self._starts[position.line] + prefix_of(self.line(position.line + 1), position.character, encoding)

    def place(self, position: types.Position, encoding: str) -> tuple[int, int]:
        """The 1-based line and column of a position."""
        line = min(position.line, len(self) - 1) + 1
        return line, prefix_of(self.line(line), position.character, encoding) + 1

    def position(self, line: int, column: int, encoding: str) -> types.Position:
        """The position of a 1-based line and column."""
        if line > len(self):
            line, column = len(self), len(self.line(len(self))) + 1
        return types.Position(line - 1, units_of(self.line(line)[: column - 1], encoding))

    def position_at(self, offset: int, encoding: str) -> types.Position:
        """The position of an offset into the text."""
        line = bisect_right(self._starts, offset)
        return self.position(line, offset - self._starts[line - 1] + 1, encoding)

    def range(self, span: Span, encoding: str) -> types.Range:
        """The range of a span."""
        return types.Range(
            self.position(span.line, span.column, encoding), self.position(span.end_line, span.end_column, encoding)
        )
