"""Findings about suppression comments themselves: unused (AH900), blanket (AH901) and invalid ones (AH902)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from autohybrid.analysis.events import Event, EventKind
from autohybrid.config import closest
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Applicability, Diagnostic, Edit, Fix
from autohybrid.diagnostics.selection import matches
from autohybrid.diagnostics.suppressions import Applied, Directive, Kind, is_known
from autohybrid.spans import Span

_WORDS = ("ignore", "file-ignore", "off", "on")


def audit(
    path: str,
    applied: Applied,
    codes: Mapping[str, str],
    is_active: Callable[[str], bool],
    get_line: Callable[[int], str],
) -> list[Diagnostic]:
    """The AH9xx findings of one file. `is_active` says whether a rule runs on it: only then can a comment be unused."""
    fixes: dict[Span, Fix] = {}
    events: list[Event] = []
    for directive in applied.directives:
        events.extend(_events(directive, applied, codes, is_active))
        fixes.update(_removals(directive, events, get_line))
    found = judge({path: tuple(events)})
    return [
        replace(finding, fixes=(fixes[finding.span],)) if finding.span in fixes and finding.code == "AH900" else finding
        for finding in found
    ]


def _events(
    directive: Directive, applied: Applied, codes: Mapping[str, str], is_active: Callable[[str], bool]
) -> Iterator[Event]:
    hidden = [finding.code for finding, by in applied.suppressed if by is directive]
    if directive.kind is Kind.UNKNOWN:
        yield _event("unknown-word", directive.span, directive.word, hint=closest(directive.word, _WORDS))
        return
    if not directive.selectors:
        if hidden and directive.kind in (Kind.NOQA, Kind.IGNORE):
            text = "# noqa" if directive.kind is Kind.NOQA else "# autohybrid: ignore"
            yield _event("blanket", directive.span, text=text, hidden=", ".join(sorted(set(hidden))))
        elif not hidden and directive.kind is not Kind.NOQA:
            yield _event("unused", directive.span)
        return
    unused: list[tuple[str, Span]] = []
    for selector, span in zip(directive.selectors, directive.selector_spans, strict=True):
        if not is_known(selector, codes):
            hint = closest(selector.upper(), list(codes)) or closest(selector.lower(), list(codes.values()))
            yield _event("unknown-code", span, selector, hint=hint)
        elif not any(matches(selector, code) for code in hidden) and any(
            matches(selector, code) and is_active(code) for code in codes
        ):
            unused.append((selector, span))
    if len(unused) == len(directive.selectors) and not directive.is_shared:
        yield _event("unused", directive.span, ", ".join(selector for selector, _ in unused))
    else:
        yield from (_event("unused", span, selector) for selector, span in unused)


def _event(name: str, span: Span, subject: str = "", text: str = "", **data: str) -> Event:
    return Event(EventKind.SUPPRESSION, span, name=name, subject=subject, text=text, data=data)


def _removals(
    directive: Directive, events: Sequence[Event], get_line: Callable[[int], str]
) -> Iterator[tuple[Span, Fix]]:
    """For each unused event of this directive: the edit that takes the code, or the whole comment, away."""
    for event in events:
        if event.name != "unused":
            continue
        if event.span == directive.span:
            edit = _remove_comment(directive, get_line(directive.span.line))
            yield event.span, Fix("remove the comment", (edit,), Applicability.SAFE)
        elif event.span in directive.selector_spans:
            edit = _remove_code(event.span, get_line(event.span.line))
            yield event.span, Fix(f"remove `{event.subject}`", (edit,), Applicability.SAFE)


def _remove_comment(directive: Directive, line: str) -> Edit:
    """Another comment behind it stays; a line that held only this one goes."""
    span = directive.span
    before, after = line[: span.column - 1], line[span.end_column - 1 :]
    if after.strip():
        blanks = len(after) - len(after.lstrip())
        return Edit(replace(span, end_column=span.end_column + blanks), "")
    if not before.strip():
        return Edit(Span(span.path, span.line, 1, span.line + 1, 1), "")
    return Edit(Span(span.path, span.line, len(before.rstrip()) + 1, span.line, len(line) + 1), "")


def _remove_code(span: Span, line: str) -> Edit:
    """The code with the comma and blanks behind it, or before it when it is the last."""
    left, right = span.column - 1, span.end_column - 1
    behind = line[right:]
    skipped = len(behind) - len(behind.lstrip(", \t"))
    if skipped and "," in behind[:skipped]:
        return Edit(replace(span, end_column=span.end_column + skipped), "")
    kept = len(line[:left].rstrip(", \t"))
    return Edit(replace(span, column=kept + 1), "")
