"""Whole files, every finding of which is written at the end of its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Severity

FOLDER = Path(__file__).resolve().parents[1] / "data" / "analysis"
EXPECTED = re.compile(r"#((?: AH\d{3})+)$")


def expected(text: str) -> set[tuple[int, str]]:
    found = set()
    for number, line in enumerate(text.splitlines(), 1):
        match = EXPECTED.search(line)
        if match:
            found.update((number, code) for code in match[1].split())
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_findings_are_those_written_in_the_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    findings = judge(analyze([SourceFile(path.name, text)], AnalysisSettings()))
    shown = {(finding.span.line, finding.code) for finding in findings if finding.severity is not Severity.INFO}
    wanted = expected(text)
    assert sorted(wanted - shown) == [] and sorted(shown - wanted) == []
