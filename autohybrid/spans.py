"""Span: a range in a source file. The one place where column conventions are decided.

Lines and columns are 1-based, columns count code points, the end is exclusive. `ast` counts UTF-8 bytes from 0:
convert with `column_from_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range `[start, end)` in the file `path`.

    >>> str(Span("net.py", 3, 5, 3, 9))
    'net.py:3:5'
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    def contains(self, other: Span) -> bool:
        """Whether `other` lies wholly inside this range (same file)."""
        return (
            self.path == other.path
            and (self.line, self.column) <= (other.line, other.column)
            and (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        )


def column_from_bytes(line_text: str, byte_offset: int) -> int:
    """The 1-based code-point column of a 0-based UTF-8 byte offset in `line_text`.

    >>> column_from_bytes("é = x", 5)
    5
    """
    if line_text.isascii():
        return byte_offset + 1
    return len(line_text.encode("utf-8", "surrogatepass")[:byte_offset].decode("utf-8", "replace")) + 1
