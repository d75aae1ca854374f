"""One source line as a terminal can show it: tabs expanded, control characters made visible, cut to a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autohybrid.diagnostics.render.style import Style, char_width

_TAB = 4


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text shown, and the columns (0-based, inside that text) at which given characters of the line start."""

    text: str
    columns: Sequence[int]
    width: int

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """The columns, clipped to what is shown, of the characters `start` to `end` (1-based, end exclusive).

        A range that is empty, or lies past the end of the line, takes one column.
        """
        last = len(self.columns) - 1
        left = min(max(self.columns[min(max(start - 1, 0), last)], 0), self.width)
        right = min(max(self.columns[min(max(end - 1, 0), last)], 0), self.width)
        return left, max(right, left + 1)


def make_excerpt(line: str, ranges: Sequence[tuple[int, int]], available: int, style: Style) -> Excerpt:
    """The part of `line` that fits into `available` columns and holds the first of `ranges` (1-based characters)."""
    if len(line) <= available and line.isascii() and line.isprintable():
        return Excerpt(line.rstrip(), range(len(line) + 1), len(line) + 1)
    shown: list[str] = []
    columns = [0]
    for char in line:
        text = _show(char, columns[-1], style)
        shown.append(text)
        columns.append(columns[-1] + (len(text) if text.isascii() else sum(map(char_width, text))))
    total = columns[-1]
    if total <= available:
        return Excerpt("".join(shown).rstrip(), tuple(columns), total + 1)
    dots = "…" if style.unicode else "..."
    start, end = ranges[0] if ranges else (1, 1)
    left, right = columns[min(start - 1, len(line))], columns[min(end - 1, len(line))]
    low = 0 if right + len(dots) <= available else max(0, left - available // 3)
    head = dots if low else ""
    tail_room = len(dots) if total - low + len(head) > available else 0
    taken: list[str] = []
    used = len(head)
    for text, column, following in zip(shown, columns, columns[1:]):
        if column < low:
            continue
        if used + following - column > available - tail_room:
            break
        taken.append(text)
        used += following - column
    text = head + "".join(taken) + (dots if tail_room else "")
    shift = len(head) - low
    return Excerpt(text, tuple(column + shift for column in columns), min(used + 1, available))


def _show(char: str, column: int, style: Style) -> str:
    if char == "\t":
        return " " * (_TAB - column % _TAB)
    if char.isprintable():
        return char if style.unicode or char.isascii() else "?"
    return "·" if style.unicode else "?"
