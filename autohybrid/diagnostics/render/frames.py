"""Frames: a finding drawn as source lines with the ranges underlined, its trail, its help. Made of styled pieces, so
that a terminal, a plain text and a page of HTML show the same.

    error[AH101] `x.shape` has no value while the graph is built
      ╭─ net.py:12:13 in Net.hybrid_forward
      │
    10│     def hybrid_forward(self, F, x):
      │                                 ─ `x` is an input, so it is a tensor
      ┆
    12│         n = x.shape[0]
      │             ━━━━━━━
      ╰ help: write `F.reshape(x, (0, -1))`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autohybrid.diagnostics.model import Applicability, Confidence, Diagnostic, Fix
from autohybrid.diagnostics.render.excerpt import Excerpt, make_excerpt
from autohybrid.diagnostics.render.style import Style, cell_width, wrap
from autohybrid.diagnostics.sources import Sources
from autohybrid.spans import Span

Piece = tuple[str, str]
Row = tuple[Piece, ...]
_LONGEST = 6
_WIDEST_PROSE = 110


@dataclass(frozen=True, slots=True)
class _Mark:
    """An underlined range: of the finding itself (`primary`) or of one step of its trail."""

    span: Span
    message: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Glyphs:
    top: str
    next: str
    side: str
    gap: str
    tee: str
    end: str
    strong: str
    weak: str


_UNICODE = _Glyphs("╭─", "├─", "│", "┆", "├", "╰", "━", "─")
_ASCII = _Glyphs("-->", "-->", "|", ":", "=", "=", "^", "-")


def to_rows(finding: Diagnostic, sources: Sources, style: Style) -> list[Row]:
    """The rows of one finding: headline, frame, help and fixes. Pieces are pairs of text and style name."""
    return list(_Frame(finding, sources, style).rows())


def to_plain_text(rows: list[Row]) -> str:
    """The rows without their styles."""
    return "".join("".join(text for text, _ in row).rstrip() + "\n" for row in rows)


class _Frame:
    def __init__(self, finding: Diagnostic, sources: Sources, style: Style) -> None:
        self._finding = finding
        self._sources = sources
        self._style = style
        self._glyphs = _UNICODE if style.unicode else _ASCII
        told = [label for label in finding.labels if label.message]
        # A step of the trail at the place of the finding itself needs no line of its own.
        own = next((label.message for label in told if label.span == finding.span), "")
        marks = [_Mark(label.span, label.message, "because") for label in told if label.span != finding.span]
        marks.append(_Mark(finding.span, own, finding.severity.value))
        self._marks = marks
        self._gutter = max(len(str(mark.span.end_line)) for mark in marks) + 1
        self._room = max(20, style.width - self._gutter - 2)

    def rows(self) -> Iterator[Row]:
        yield from self._headline()
        span = self._finding.span
        own = [mark for mark in self._marks if mark.span.path == span.path]
        yield from self._file(span, own, self._where())
        for path in dict.fromkeys(mark.span.path for mark in self._marks if mark.span.path != span.path):
            marks = [mark for mark in self._marks if mark.span.path == path]
            yield from self._file(marks[0].span, marks, "", is_first=False)
        yield from self._tail()

    def _headline(self) -> Iterator[Row]:
        finding = self._finding
        kind = finding.severity.value
        tag = f"{kind}[{finding.code}]"
        sure = "" if finding.confidence is Confidence.DEFINITE else f" ({finding.confidence.value})"
        lines = wrap(self._clean(finding.message), max(20, self._style.width - cell_width(tag + sure) - 1))
        yield ((tag, kind), (sure, "dim"), (" " + lines[0], "strong"))
        for line in lines[1:]:
            yield ((" " * cell_width(tag + sure) + " " + line, "strong"),)

    def _where(self) -> str:
        finding = self._finding
        return ".".join(part for part in (finding.block, finding.method) if part)

    def _file(self, span: Span, marks: list[_Mark], where: str, is_first: bool = True) -> Iterator[Row]:
        """The frame of one file: its place, then every marked line with its neighbours."""
        glyphs = self._glyphs
        cell = f" cell {self._finding.cell}" if self._finding.cell is not None else ""
        place = f" {span.path}{cell}:{span.line}:{span.column}"
        corner = glyphs.top if is_first else glyphs.next
        yield (
            (" " * self._gutter + corner, "gutter"),
            (self._clean(place), "path"),
            (f" in {where}" if where else "", "dim"),
        )
        by_line: dict[int, list[_Mark]] = {}
        for mark in marks:
            # Of a step of the trail its first line is enough.
            for line in _marked_lines(mark.span) if mark.kind != "because" else [mark.span.line]:
                by_line.setdefault(line, []).append(mark)
        previous = 0
        for line in self._shown_lines(by_line, span.path):
            if previous and line > previous + 1:
                yield ((" " * self._gutter + glyphs.gap, "gutter"),)
            yield from self._line(span.path, line, by_line.get(line, []))
            previous = line

    def _shown_lines(self, by_line: dict[int, list[_Mark]], path: str) -> list[int]:
        """The marked lines, single lines between two of them, and the neighbours of the finding itself."""
        shown = set(by_line)
        for line in by_line:
            if line + 2 in by_line:
                shown.add(line + 1)
        finding = self._finding.span
        if path == finding.path:
            for line in (finding.line - 1, finding.end_line + 1):
                if self._sources.get_line(path, line, self._finding.cell).strip():
                    shown.add(line)
        return sorted(shown)

    def _line(self, path: str, line: int, marks: list[_Mark]) -> Iterator[Row]:
        text = self._sources.get_line(path, line, self._finding.cell)
        ranges = [_range_on(mark.span, line, text) for mark in marks]
        primary_first = sorted(zip(ranges, marks), key=lambda item: item[1].kind == "because")
        excerpt = make_excerpt(text, [item[0] for item in primary_first], self._room, self._style)
        yield (
            (f"{line:>{self._gutter}}{self._glyphs.side} ", "gutter"),
            (excerpt.text, "source"),
        )
        for (start, end), mark in zip(ranges, marks):
            told = mark.message if line == mark.span.line else ""
            yield from self._underline(excerpt, start, end, mark, told)

    def _underline(self, excerpt: Excerpt, start: int, end: int, mark: _Mark, told: str) -> Iterator[Row]:
        """The line under a range, with the message behind it or, where that is too narrow, below it."""
        left, right = excerpt.locate(start, end)
        stroke = self._glyphs.weak if mark.kind == "because" else self._glyphs.strong
        margin = (" " * self._gutter + self._glyphs.side + " ", "gutter")
        line = (" " * left + stroke * (right - left), mark.kind)
        message = self._clean(told)
        indent = min(left, max(0, self._room - 40))
        below = wrap(message, self._room - indent) if message else []
        behind = wrap(message, self._room - right - 1) if self._room - right > 1 else below
        fits = max(map(cell_width, behind), default=0) <= self._room - right - 1
        if fits and len(behind) <= len(below) + 1:
            yield (margin, line, (" " + behind[0] if message else "", mark.kind))
            yield from ((margin, (" " * (right + 1) + rest, mark.kind)) for rest in behind[1:])
            return
        yield (margin, line)
        yield from ((margin, (" " * indent + rest, mark.kind)) for rest in below)

    def _tail(self) -> Iterator[Row]:
        """Help and fixes behind the frame's last corner."""
        notes: list[tuple[str, str]] = []
        if self._finding.help:
            notes.append(("help: ", self._finding.help))
        notes.extend((_fix_tag(fix), fix.message) for fix in self._finding.fixes)
        for at, (tag, text) in enumerate(notes):
            corner = self._glyphs.end if at == len(notes) - 1 else self._glyphs.tee
            margin = " " * self._gutter + corner + " "
            lines = wrap(self._clean(text), max(20, min(self._room, _WIDEST_PROSE) - len(tag)))
            yield ((margin, "gutter"), (tag, "help"), (lines[0], "text"))
            side = " " if at == len(notes) - 1 else self._glyphs.side
            for line in lines[1:]:
                yield ((" " * self._gutter + side + " ", "gutter"), (" " * len(tag) + line, "text"))

    def _clean(self, text: str) -> str:
        """Nothing that moves the cursor, and nothing the output cannot show."""
        if text.isascii() and text.isprintable():
            return text
        kept = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
        return kept if self._style.unicode else kept.encode("ascii", "replace").decode("ascii")


def _fix_tag(fix: Fix) -> str:
    flags = {Applicability.SAFE: "fix (`--fix`): ", Applicability.UNSAFE: "fix (`--unsafe-fixes`): "}
    return flags.get(fix.applicability, "suggestion: ")


def _marked_lines(span: Span) -> list[int]:
    """The lines of a range that are shown: all of a short one, first and last of a long one."""
    if span.end_line - span.line < _LONGEST:
        last = span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line
        return list(range(span.line, last + 1))
    return [span.line, span.end_line]


def _range_on(span: Span, line: int, text: str) -> tuple[int, int]:
    """The part of a range on one of its lines, without the indentation of lines after the first."""
    start = span.column if line == span.line else len(text) - len(text.lstrip()) + 1
    end = span.end_column if line == span.end_line else len(text) + 1
    return start, max(end, start)
