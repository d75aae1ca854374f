"""Suppression comments: finding them, applying them, and reporting those that suppress nothing.

`# noqa`, `# noqa: AH104` (shared with flake8 and ruff), `# autohybrid: ignore[AH104] reason` on a line or above it,
`# autohybrid: file-ignore[AH1] reason`, and `# autohybrid: off` ... `# autohybrid: on`.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.selection import matches
from autohybrid.spans import Span

# What the text must hold for a comment of ours to be in it. A `noqa` that lists only codes of other tools is not ours,
# and a bare one matters only where it hides a finding.
_OWN_HINT = re.compile(r"#\s*autohybrid\s*:|#\s*noqa[^#\n]*\bAH\d", re.IGNORECASE)
_BARE_HINT = re.compile(r"#\s*noqa(?!\s*:\s*[A-Z]+\d)", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa(?P<list>\s*:\s*(?P<codes>[A-Z]+\d+(?:[\s,]+[A-Z]+\d+)*))?(?![\w-])", re.IGNORECASE)
_OURS = re.compile(r"#\s*autohybrid\s*:\s*(?P<word>[\w-]+)\s*(?:\[(?P<codes>[^\]#]*)\])?(?P<reason>[^#]*)")
_END_OF_FILE = 2**31
_CODE = re.compile(r"[^\s,]+")


class Kind(Enum):
    """What a comment does."""

    NOQA = "noqa"
    IGNORE = "ignore"
    FILE_IGNORE = "file-ignore"
    RANGE = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment. It covers findings that start on lines `first` to `last`; no `selectors` means every rule.

    `span` is the comment itself, from its `#`; `selector_spans` are the ranges of the single codes in it. A shared one
    also lists codes of other tools, so it can never go as a whole.
    """

    kind: Kind
    selectors: tuple[str, ...]
    span: Span
    first: int
    last: int
    reason: str = ""
    word: str = ""
    selector_spans: tuple[Span, ...] = ()
    is_shared: bool = False

    def covers(self, line: int) -> bool:
        """Whether a finding that starts on `line` lies under this comment."""
        return self.first <= line <= self.last


def has_own_directives(text: str) -> bool:
    """Whether the text can hold a comment that must be looked at even where nothing is found; never wrongly false."""
    return ("autohybrid" in text or "noqa" in text.lower()) and _OWN_HINT.search(text) is not None


def has_directives(text: str) -> bool:
    """Whether the text can hold any comment that suppresses; never wrongly false."""
    return "#" in text and (_OWN_HINT.search(text) is not None or _BARE_HINT.search(text) is not None)


def read_directives(path: str, text: str) -> tuple[Directive, ...]:
    """The suppression comments of one file, in order."""
    if not has_directives(text):
        return ()
    found: list[Directive] = []
    off: Directive | None = None
    for comment in _comments(text):
        for directive in _parse(path, comment):
            if directive.kind is not Kind.RANGE:
                found.append(directive)
            elif directive.word == "off":
                off = off or directive
            elif off is not None:
                found.append(_ranged(off, comment.line))
                off = None
    if off is not None:
        found.append(_ranged(off, _END_OF_FILE))
    return tuple(sorted(found, key=lambda item: item.span))


def _ranged(off: Directive, last: int) -> Directive:
    return replace(off, first=off.span.line, last=last)


@dataclass(frozen=True, slots=True)
class _Comment:
    text: str
    line: int
    column: int
    first: int
    last: int
    own_line: bool


def _comments(text: str) -> Iterator[_Comment]:
    """Every comment, with the lines that a suppression in it covers.

    Behind code on the first or last line of a logical line: that whole logical line; in the middle of one: its own
    line; on a line of its own: the logical line that follows.
    """
    pending: list[tuple[str, int, int]] = []
    alone: list[tuple[str, int, int]] = []
    first = 0
    # A carriage return alone ends a line in Python, but makes the tokenizer of CPython 3.12 and later lose its place.
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(plain).readline):
            line, column = token.start
            if token.type == tokenize.COMMENT:
                (pending if first or token.line[:column].strip() else alone).append((token.string, line, column + 1))
            elif token.type == tokenize.NEWLINE:
                first = first or line
                yield from _attach(pending, first, line)
                pending, first = [], 0
            elif token.type not in _BLANK and not first:
                first = line
                yield from (_Comment(*item, line, line, True) for item in alone)
                alone = []
    except (tokenize.TokenError, SyntaxError):
        pass  # the file does not parse; what was read so far still counts
    for item in (*pending, *alone):
        yield _Comment(*item, item[1], item[1], True)


_BLANK = frozenset((tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING))


def _attach(pending: list[tuple[str, int, int]], first: int, last: int) -> Iterator[_Comment]:
    for string, line, column in pending:
        whole = line in (first, last)
        yield _Comment(string, line, column, first if whole else line, last if whole else line, False)


def _parse(path: str, comment: _Comment) -> Iterator[Directive]:
    for match in _NOQA.finditer(comment.text):
        selectors, spans = _codes(path, comment, match)
        is_shared = False
        if match["list"] is not None:
            ours = [at for at, selector in enumerate(selectors) if selector.upper().startswith("AH")]
            if not ours:
                continue
            is_shared = len(ours) < len(selectors)
            selectors, spans = tuple(selectors[at] for at in ours), tuple(spans[at] for at in ours)
        if not comment.own_line:
            yield Directive(
                Kind.NOQA, selectors, _span(path, comment, *match.span()), comment.first, comment.last,
                selector_spans=spans, is_shared=is_shared,
            )  # fmt: skip
    for match in _OURS.finditer(comment.text):
        yield _parse_own(path, comment, match)


def _parse_own(path: str, comment: _Comment, match: re.Match[str]) -> Directive:
    word = match["word"].lower()
    selectors, spans = _codes(path, comment, match)
    kinds = {"ignore": Kind.IGNORE, "file-ignore": Kind.FILE_IGNORE, "off": Kind.RANGE, "on": Kind.RANGE}
    kind = kinds.get(word, Kind.UNKNOWN)
    first, last = (1, _END_OF_FILE) if kind is Kind.FILE_IGNORE else (comment.first, comment.last)
    end = match.start() + len(match[0].rstrip())
    return Directive(
        kind, selectors, _span(path, comment, match.start(), end), first, last, match["reason"].strip(" :-"), word,
        spans,
    )  # fmt: skip


def _codes(path: str, comment: _Comment, match: re.Match[str]) -> tuple[tuple[str, ...], tuple[Span, ...]]:
    if match["codes"] is None:
        return (), ()
    found = [(item[0], item.start(), item.end()) for item in _CODE.finditer(match["codes"])]
    start = match.start("codes")
    return (
        tuple(code for code, _, _ in found),
        tuple(_span(path, comment, start + left, start + right) for _, left, right in found),
    )


def _span(path: str, comment: _Comment, start: int, end: int) -> Span:
    return Span(path, comment.line, comment.column + start, comment.line, comment.column + end)


@dataclass(frozen=True, slots=True)
class Applied:
    """What is left to report, what was suppressed, each with the comment that did it, and all comments of the file."""

    kept: tuple[Diagnostic, ...]
    suppressed: tuple[tuple[Diagnostic, Directive], ...] = ()
    directives: tuple[Directive, ...] = ()


def silence(
    path: str, text: str, findings: Sequence[Diagnostic], get_codes: Callable[[], Mapping[str, str]]
) -> Applied:
    """Apply the comments in the text of a file to the findings in it. `get_codes` gives code and name of every rule."""
    if not has_directives(text):
        return Applied(tuple(findings))
    codes = get_codes()
    return apply_directives(findings, tuple(resolve(directive, codes) for directive in read_directives(path, text)))


def apply_directives(findings: Sequence[Diagnostic], directives: tuple[Directive, ...]) -> Applied:
    """Split the findings of one file by its (resolved) comments; the narrowest one that covers a finding gets it."""
    kept: list[Diagnostic] = []
    suppressed: list[tuple[Diagnostic, Directive]] = []
    active = [directive for directive in directives if directive.kind is not Kind.UNKNOWN]
    active.sort(key=lambda directive: directive.last - directive.first)
    for finding in findings:
        for directive in active:
            if directive.covers(finding.span.line) and covers_code(directive, finding.code):
                suppressed.append((finding, directive))
                break
        else:
            kept.append(finding)
    return Applied(tuple(kept), tuple(suppressed), directives)


def covers_code(directive: Directive, code: str) -> bool:
    """Whether the directive names `code`, a prefix of it, ALL or nothing at all."""
    return not directive.selectors or any(matches(selector, code) for selector in directive.selectors)


def resolve(directive: Directive, codes: Mapping[str, str]) -> Directive:
    """The directive with codes in capitals and names of rules as codes; what names no rule stays as written."""
    return replace(directive, selectors=tuple(_resolve(selector, codes) for selector in directive.selectors))


def _resolve(selector: str, codes: Mapping[str, str]) -> str:
    upper, lower = selector.upper(), selector.lower()
    if is_known(upper, codes):
        return upper
    return next((code for code, name in codes.items() if name == lower), selector)


def is_known(selector: str, codes: Mapping[str, str]) -> bool:
    """Whether a resolved selector covers at least one rule."""
    return any(matches(selector, code) for code in codes)
