"""json: an array of findings with ruff's field names, so that what reads ruff's output reads ours.

Schema 1. Lines and columns are 1-based, columns count code points, ends are exclusive. `filename` is absolute.
"""

from __future__ import annotations

import json
import os
from typing import Any

from autohybrid.diagnostics.model import Applicability, Diagnostic
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report
from autohybrid.spans import Span

SCHEMA = 1


def render(report: Report, style: Style) -> str:
    """The array, indented by two, `[]` when nothing was found."""
    return json.dumps(to_objects(report, style), indent=2, ensure_ascii=False) + "\n"


def to_objects(report: Report, style: Style) -> list[dict[str, Any]]:
    """The findings (and with `show_suppressed` the suppressed ones) as plain objects, in report order."""
    findings = list(report)
    if style.show_suppressed:
        findings = sorted([*findings, *report.suppressed], key=lambda finding: finding.sort_key)
    return [to_object(finding, report) for finding in findings]


def to_object(finding: Diagnostic, report: Report) -> dict[str, Any]:
    """One finding."""
    return {
        "schema": SCHEMA,
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "help": finding.help or None,
        "filename": _absolute(finding.span.path, report),
        "cell": finding.cell,
        "location": _start(finding.span),
        "end_location": _end(finding.span),
        "block": finding.block or None,
        "method": finding.method or None,
        "provenance": [
            {
                "message": label.message,
                "filename": _absolute(label.span.path, report),
                "location": _start(label.span),
                "end_location": _end(label.span),
            }
            for label in finding.labels
        ],
        "fix": _fix(finding),
        "suppressed": finding.suppressed is not None,
        "justification": finding.suppressed,
        "url": None,
        "noqa_row": finding.span.line,
    }


def _absolute(path: str, report: Report) -> str:
    return os.path.abspath(report.sources.get_absolute(path))


def _start(span: Span) -> dict[str, int]:
    return {"row": span.line, "column": span.column}


def _end(span: Span) -> dict[str, int]:
    return {"row": span.end_line, "column": span.end_column}


def _fix(finding: Diagnostic) -> dict[str, Any] | None:
    """The best fix: a safe one before an unsafe one before one that is only shown."""
    order = list(Applicability)
    fixes = sorted(finding.fixes, key=lambda fix: order.index(fix.applicability))
    if not fixes:
        return None
    return {
        "applicability": fixes[0].applicability.value,
        "message": fixes[0].message,
        "edits": [
            {"content": edit.content, "location": _start(edit.span), "end_location": _end(edit.span)}
            for edit in fixes[0].edits
        ],
    }
