"""Applying fixes to texts. Bytes outside the edits stay as they are; a fix is applied whole or not at all.

Owns the choice among fixes and the arithmetic of edits; which files are read and written is the caller's business.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.spans import Span

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Applied:
    """The new texts of the files that changed, and the findings that were fixed, each with its fix."""

    texts: Mapping[str, str]
    fixed: tuple[tuple[Diagnostic, Fix], ...]


def choose_fix(finding: Diagnostic, *, unsafe: bool) -> Fix | None:
    """The fix to apply: the first safe one, else (with `unsafe`) the first unsafe one; never one that is only shown."""
    for wanted in (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,):
        for fix in finding.fixes:
            if fix.applicability is wanted:
                return fix
    return None


def apply_fixes(findings: Iterable[Diagnostic], get_text: Callable[[str], str], *, unsafe: bool) -> Applied:
    """Apply one fix per finding, in order, leaving out those whose edits meet edits chosen before.

    A file that parsed before and would not parse after is left as it was, together with all its fixes: a fix that
    breaks the syntax is a bug, not something to write to disk.
    """
    chosen: list[tuple[Diagnostic, Fix]] = []
    taken: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    lines: dict[str, _Lines] = {}
    for finding in findings:
        fix = choose_fix(finding, unsafe=unsafe)
        if fix is None:
            continue
        ranges = [(edit.span.path, *_range(edit, lines, get_text)) for edit in fix.edits]
        if _meets(ranges, taken):
            continue
        for path, start, end, content in ranges:
            taken[path].append((start, end, content))
        chosen.append((finding, fix))
    texts = {path: _replace(lines[path].text, edits) for path, edits in taken.items()}
    broken = {path for path, text in texts.items() if _parses(lines[path].text) and not _parses(text)}
    fixed = tuple((finding, fix) for finding, fix in chosen if not broken & {edit.span.path for edit in fix.edits})
    if broken:
        return apply_fixes((finding for finding, _ in fixed), get_text, unsafe=unsafe)
    changed = {path: text for path, text in texts.items() if text != lines[path].text}
    return Applied(changed, fixed)


class _Lines:
    """A text with the offsets of its lines, to turn line and column into an offset."""

    def __init__(self, text: str) -> None:
        ends = list(_LINE_END.finditer(text))
        self.text = text
        self._starts = [0, *(match.end() for match in ends)]
        self.line_end = ends[0].group() if ends else "\n"

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based place, clipped to the text and to its line."""
        if line > len(self._starts):
            return len(self.text)
        start = self._starts[max(line, 1) - 1]
        limit = self._starts[line] if line < len(self._starts) else len(self.text)
        return min(start + max(column, 1) - 1, limit)


def _range(edit: Edit, lines: dict[str, _Lines], get_text: Callable[[str], str]) -> tuple[int, int, str]:
    """Offsets and new text of an edit; its line ends become those of the file."""
    span: Span = edit.span
    if span.path not in lines:
        lines[span.path] = _Lines(get_text(span.path))
    known = lines[span.path]
    content = edit.content if known.line_end == "\n" else edit.content.replace("\n", known.line_end)
    return known.offset(span.line, span.column), known.offset(span.end_line, span.end_column), content


def _meets(ranges: Sequence[tuple[str, int, int, str]], taken: Mapping[str, Sequence[tuple[int, int, str]]]) -> bool:
    """Whether an edit overlaps one chosen before. Two insertions at one place meet, unless they are the same edit."""
    for path, start, end, content in ranges:
        for other_start, other_end, other in taken.get(path, ()):
            if (start, end, content) == (other_start, other_end, other):
                return True
            if start < other_end and other_start < end:
                return True
            if start == other_start and (start == end or other_start == other_end):
                return True
    return False


def _replace(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, content in sorted(edits):
        parts += [text[at:start], content]
        at = end
    return "".join([*parts, text[at:]])


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
