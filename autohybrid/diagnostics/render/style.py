"""Style: how wide, how colourful and in which characters a human format is drawn; and text measured in columns."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """`width` in columns; `colour` for ANSI colours; `unicode` for line-drawing characters, else ASCII.

    `summary` ends a human format with its counts; `show_suppressed` adds suppressed findings to formats that can mark
    them.
    """

    width: int = 80
    colour: bool = False
    unicode: bool = True
    summary: bool = True
    show_suppressed: bool = False


def cell_width(text: str) -> int:
    """Columns that `text` takes in a terminal: two for wide East Asian characters, none for combining marks.

    >>> cell_width("xé"), cell_width("形")
    (2, 2)
    """
    if text.isascii():
        return len(text)
    return sum(char_width(char) for char in text)


def char_width(char: str) -> int:
    """Columns of one character."""
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def one_line(text: str) -> str:
    """The text on one line, without characters that would move a cursor or start a command."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken at blanks; a word that is longer has a line of its own."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        current = ""
        for word in paragraph.split():
            candidate = f"{current} {word}" if current else word
            if current and cell_width(candidate) > width:
                lines.append(current)
                current = word
            else:
                current = candidate
        lines.append(current)
    return lines


def plural(count: int, noun: str) -> str:
    """`1 error`, `2,000 errors`, `2 fixes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}{'es' if noun.endswith('x') else 's'}"
