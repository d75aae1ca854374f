"""gitlab: a Code Quality report. GitLab drops entries of equal fingerprint, so fingerprints count equal findings."""

from __future__ import annotations

import json

from autohybrid.diagnostics.fingerprint import make_fingerprints
from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, style: Style) -> str:
    """The report as a JSON array. Both `lines.begin` (the documented minimum) and `positions` are given."""
    spans = [finding.in_file(finding.span) for finding in report]
    rows = [
        {
            "description": f"{finding.code}: {_cell(finding)}{finding.message}",
            "check_name": finding.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": span.path,
                "lines": {"begin": span.line, "end": span.end_line},
                "positions": {
                    "begin": {"line": span.line, "column": span.column},
                    "end": {"line": span.end_line, "column": span.end_column},
                },
            },
        }
        for finding, span, fingerprint in zip(report, spans, make_fingerprints(report, report.sources))
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _cell(finding: Diagnostic) -> str:
    """The place in a notebook, which GitLab has no field for."""
    return "" if finding.cell is None else f"cell {finding.cell}:{finding.span.line}:{finding.span.column}: "
