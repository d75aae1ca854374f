"""concise: one line a finding, `path:line:column-endline:endcolumn: CODE severity[confidence] message`.

The shape is a contract with problem matchers of editors and CI; notebooks write `path:cell 3:line:column`.
"""

from __future__ import annotations

from autohybrid.diagnostics.model import Confidence, Diagnostic
from autohybrid.diagnostics.render.style import Style, one_line
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report


def render(report: Report, style: Style) -> str:
    """One line a finding, then the summary."""
    lines = [to_line(finding) for finding in report]
    if style.summary:
        lines.extend(summary_lines(report))
    return "".join(line + "\n" for line in lines)


def to_line(finding: Diagnostic) -> str:
    """The line of one finding. The confidence is left out where it is definite."""
    span = finding.span
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    sure = "" if finding.confidence is Confidence.DEFINITE else f"[{finding.confidence.value}]"
    place = f"{one_line(span.path)}:{cell}{span.line}:{span.column}-{span.end_line}:{span.end_column}"
    return f"{place}: {finding.code} {finding.severity.value}{sure} {one_line(finding.message)}"
