"""Hover: the findings under the cursor with their rules, and what the analysis knows of the expression there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lsprotocol import types

from autohybrid.analysis.values import Unknown, Value
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.rules import find_rule
from autohybrid.lsp.describe import describe, reasons
from autohybrid.lsp.documents import Documents
from autohybrid.lsp.project import Project
from autohybrid.lsp.rule_text import section_of
from autohybrid.spans import Span

_MOST_REASONS = 6


def find_hover(project: Project, documents: Documents, params: types.HoverParams) -> types.Hover | None:
    """What to show at a position; None where there is nothing to say."""
    uri = params.text_document.uri
    path, place = documents.path_of(uri), documents.place(uri, params.position)
    findings = [finding for finding in project.check(path).shown if covers(finding.span, place)]
    found = find_expression(project.values(path), place)
    parts = [to_text(finding) for finding in findings]
    if found is not None:
        parts.append(_expression_text(*found, documents))
    if not parts:
        return None
    span = findings[0].span if found is None else found[0]
    content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
    return types.Hover(content, documents.locate(span).range)


def covers(span: Span, place: tuple[int, int]) -> bool:
    """Whether a line and column lie in the span, or right behind it."""
    return (span.line, span.column) <= place <= (span.end_line, span.end_column)


def to_text(finding: Diagnostic) -> str:
    """A finding and why its rule exists, in Markdown."""
    lines = [f"**{finding.code}** `{finding.name}`: {finding.message}"]
    lines += [f"- {label.message} (line {label.span.line})" for label in finding.labels]
    paragraphs = ["\n".join(lines)]
    if finding.help:
        paragraphs.append(f"**Help:** {finding.help}")
    rule = find_rule(finding.code)
    if rule is not None:
        for label in ("Why a graph cannot express it", "Instead", "MXNet 1.9.1"):
            text = section_of(rule, label)
            if text:
                paragraphs.append(f"**{label}:** {text}")
    return "\n\n".join(paragraphs)


def find_expression(values: Mapping[Span, Value], place: tuple[int, int]) -> tuple[Span, Value] | None:
    """The smallest expression at a place of which anything is known."""
    inside = [(span, value) for span, value in values.items() if covers(span, place)]
    if not inside:
        return None
    span, value = min(inside, key=lambda item: _extent(item[0]))
    return None if isinstance(value, Unknown) and not value.reason else (span, value)


def _extent(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column


def _expression_text(span: Span, value: Value, documents: Documents) -> str:
    lines = documents.lines_of(span.path)
    source = lines.line(span.line)[span.column - 1 : span.end_column - 1 if span.line == span.end_line else None]
    more = " ..." if span.line != span.end_line else ""
    because = list(_because(value))
    return "\n".join([f"```python\n{source}{more}\n```", describe(value), *because])


def _because(value: Value) -> Iterable[str]:
    steps = list(reasons(value))
    shown = steps if len(steps) <= _MOST_REASONS else [*steps[: _MOST_REASONS - 1], steps[-1]]
    return (f"- {step.message} (line {step.span.line})" for step in shown)
