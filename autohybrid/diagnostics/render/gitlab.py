"""gitlab: a Code Quality report. GitLab drops entries of equal fingerprint, so fingerprints count equal findings."""

from __future__ import annotations

import json

from autohybrid.diagnostics.fingerprint import make_fingerprints
from autohybrid.diagnostics.model import Severity
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, style: Style) -> str:
    """The report as a JSON array. Both `lines.begin` (the documented minimum) and `positions` are given."""
    rows = [
        {
            "description": f"{finding.code}: {finding.message}",
            "check_name": finding.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": finding.span.path,
                "lines": {"begin": finding.span.line, "end": finding.span.end_line},
                "positions": {
                    "begin": {"line": finding.span.line, "column": finding.span.column},
                    "end": {"line": finding.span.end_line, "column": finding.span.end_column},
                },
            },
        }
        for finding, fingerprint in zip(report, make_fingerprints(report, report.sources))
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
