"""github: workflow commands that GitHub Actions shows as annotations, errors first; and the step's summary table.

GitHub keeps ten errors and ten warnings of a step, so errors come first and the summary table holds everything.
"""

from __future__ import annotations

from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.diagnostics.render.style import Style, one_line
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_ORDER = list(_COMMANDS)


def render(report: Report, style: Style) -> str:
    """One command a finding; nothing when nothing was found."""
    ordered = sorted(report, key=lambda finding: (_ORDER.index(finding.severity), finding.sort_key))
    return "".join(_to_command(finding) + "\n" for finding in ordered)


def to_step_summary(report: Report) -> str:
    """The findings as a Markdown table for `GITHUB_STEP_SUMMARY`."""
    lines = ["### autohybrid", "", *summary_lines(report), ""]
    if report.findings:
        lines += ["| place | rule | severity | finding |", "|---|---|---|---|"]
        for finding in report:
            place = f"`{_in_cell(finding.place)}`"
            lines.append(f"| {place} | {finding.code} | {finding.severity.value} | {_in_cell(finding.message)} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def _to_command(finding: Diagnostic) -> str:
    span = finding.in_file(finding.span)
    properties = {
        "title": f"autohybrid ({finding.code})",
        "file": one_line(span.path),
        "line": span.line,
        "col": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    listed = ",".join(f"{name}={_escape(str(value), in_property=True)}" for name, value in properties.items())
    text = f"{one_line(finding.place)}: {finding.code} {one_line(finding.message)}"
    if finding.help:
        text += f"\n  help: {one_line(finding.help)}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{_escape(text)}"


def _escape(text: str, *, in_property: bool = False) -> str:
    """GitHub's own escapes: percent and line ends everywhere, colon and comma in properties."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if in_property else text


def _in_cell(text: str) -> str:
    return one_line(text.replace("|", "\\|"))
