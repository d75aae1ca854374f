"""grouped: the findings of each file under its name, in aligned columns."""

from __future__ import annotations

from itertools import groupby

from autohybrid.diagnostics.model import Confidence, Diagnostic
from autohybrid.diagnostics.render.style import Style, one_line
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report


def render(report: Report, style: Style) -> str:
    """One block a file, then the summary."""
    lines: list[str] = []
    for path, findings in groupby(report, key=lambda finding: finding.span.path):
        lines += [f"{one_line(path)}:", *_rows(list(findings)), ""]
    if style.summary:
        lines.extend(summary_lines(report))
    return "".join(line + "\n" for line in lines)


def _rows(findings: list[Diagnostic]) -> list[str]:
    cells = [(_place(finding), finding.code, _kind(finding), one_line(finding.message)) for finding in findings]
    widths = [max(len(row[at]) for row in cells) for at in range(3)]
    return [f"  {row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}" for row in cells]


def _place(finding: Diagnostic) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{cell}{finding.span.line}:{finding.span.column}"


def _kind(finding: Diagnostic) -> str:
    sure = "" if finding.confidence is Confidence.DEFINITE else f"[{finding.confidence.value}]"
    return finding.severity.value + sure
