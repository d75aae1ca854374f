"""--statistics: how many findings each rule has, the most frequent first."""

from __future__ import annotations

import json
from collections import defaultdict

from autohybrid.diagnostics.model import Applicability, Diagnostic
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report


def render_statistics(report: Report, style: Style, *, as_json: bool = False) -> str:
    """A table of count, code, a star where all are fixable, and name; or the same as a JSON array."""
    by_code: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for finding in report:
        by_code[finding.code].append(finding)
    groups = sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0]))
    if as_json:
        rows = [
            {"code": code, "name": group[0].name, "count": len(group), "fixable": sum(map(_is_fixable, group))}
            for code, group in groups
        ]
        return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    width = max((len(str(len(group))) for _, group in groups), default=0)
    lines = [f"{len(group):>{width}}  {code}  {_star(group)} {group[0].name}" for code, group in groups]
    if style.summary:
        lines.extend(summary_lines(report))
    return "".join(line + "\n" for line in lines)


def _is_fixable(finding: Diagnostic) -> bool:
    return any(fix.applicability is not Applicability.DISPLAY for fix in finding.fixes)


def _star(group: list[Diagnostic]) -> str:
    fixable = sum(map(_is_fixable, group))
    return "[*]" if fixable == len(group) else "[-]" if fixable else "[ ]"
