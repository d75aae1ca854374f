"""The last lines of the human formats: how many findings of which kind, and what can be fixed."""

from __future__ import annotations

from collections import Counter

from autohybrid.diagnostics.model import Applicability, Severity
from autohybrid.diagnostics.render.style import plural
from autohybrid.diagnostics.report import Report

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def summary_lines(report: Report) -> list[str]:
    """One or two lines; says so when nothing was found."""
    checked = plural(report.files, "file")
    known = f" ({plural(report.known, 'known finding')} in the baseline)" if report.known else ""
    fixed = f"Fixed {plural(report.fixed, 'finding')}. " if report.fixed else ""
    if not report.findings:
        return [f"{fixed}All checks passed in {checked}{known}."]
    counts = Counter(finding.severity for finding in report)
    parts = [plural(counts[severity], severity.value) for severity in _ORDER if counts[severity]]
    touched = len({finding.span.path for finding in report})
    lines = [f"{fixed}{'Left: ' if fixed else 'Found '}{', '.join(parts)} in {touched:,} of {checked}{known}."]
    fixes = _fix_line(report)
    return [*lines, fixes] if fixes else lines


def _fix_line(report: Report) -> str:
    applicabilities = [{fix.applicability for fix in finding.fixes} for finding in report if finding.fixes]
    safe = sum(Applicability.SAFE in found for found in applicabilities)
    unsafe = sum(Applicability.UNSAFE in found and Applicability.SAFE not in found for found in applicabilities)
    least = "" if report.has_all_fixes else "At least "
    if safe and unsafe:
        return f"{least}{safe:,} fixable with `--fix`, {unsafe:,} more with `--fix --unsafe-fixes`."
    if safe:
        return f"{least}{safe:,} fixable with `--fix`."
    return f"{least}{unsafe:,} fixable with `--fix --unsafe-fixes`." if unsafe else ""
