"""junit: JUnit XML; a test suite a file, a failed test case a finding. Without findings, one case that passes."""

from __future__ import annotations

from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report


def render(report: Report, style: Style) -> str:
    """The document, without times: they would differ between runs."""
    total = len(report)
    suites = [_suite(path, list(group)) for path, group in groupby(report, key=lambda finding: finding.span.path)]
    if not suites:
        suites = [
            '  <testsuite name="autohybrid" tests="1" failures="0">\n    <testcase name="check"/>\n  </testsuite>\n'
        ]
    head = f'<testsuites name="autohybrid" tests="{max(total, 1)}" failures="{total}" errors="0">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{"".join(suites)}</testsuites>\n'


def _suite(path: str, findings: list[Diagnostic]) -> str:
    head = f'  <testsuite name={_attribute(path)} tests="{len(findings)}" failures="{len(findings)}" errors="0">\n'
    return head + "".join(map(_case, findings)) + "  </testsuite>\n"


def _case(finding: Diagnostic) -> str:
    span = finding.span
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    text = f"{span.path}:{cell}{span.line}:{span.column}: {finding.code} {finding.message}"
    if finding.help:
        text += f"\nhelp: {finding.help}"
    name = _attribute(f"{finding.code} {finding.name} at {cell}{span.line}:{span.column}")
    where = _attribute(span.path.removesuffix(".py"))
    kind, message = finding.severity.value, _attribute(finding.message)
    return (
        f'    <testcase classname={where} name={name} file={_attribute(span.path)} line="{span.line}">\n'
        f'      <failure type="{kind}" message={message}>{_text(text)}</failure>\n'
        "    </testcase>\n"
    )


def _attribute(text: str) -> str:
    return quoteattr(_legal(text), {"\n": "&#10;", "\t": "&#9;"})


def _text(text: str) -> str:
    return escape(_legal(text))


def _legal(text: str) -> str:
    """XML 1.0 has no other control characters and no lone surrogates."""
    return "".join(
        char if char in "\t\n" or (char >= " " and not "\ud800" <= char <= "\udfff") else "?" for char in text
    )
