"""Idioms of real Gluon code, one to a file: `check` finds the lines marked `# defect` and nothing else.

What is marked was seen to fail, or to give something else, when MXNet 1.9.1 ran the file hybridized; what is not marked
ran. Marked too are effects that happen once (prints, clocks, counters), which MXNet lets pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from labelled.cases import ROOT

import autohybrid

FOLDER = ROOT / "idioms"
FILES = sorted(FOLDER.glob("*.py"))


@pytest.fixture(scope="module")
def findings() -> Mapping[str, list[range]]:
    """The lines of errors and warnings by the name of the file."""
    found: dict[str, list[range]] = {}
    for finding in autohybrid.check(FOLDER):
        if finding.severity.value in ("error", "warning"):
            lines = range(finding.span.line, finding.span.end_line + 1)
            found.setdefault(Path(finding.span.path).name, []).append(lines)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_marked_lines_are_found_and_no_others(file: Path, findings: Mapping[str, list[range]]) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if line.endswith("# defect")}
    found = findings.get(file.name, [])
    assert {number for number in marked if not any(number in lines for lines in found)} == set()
    assert [lines for lines in found if not marked & set(lines)] == []


def test_there_are_clean_and_defective_files() -> None:
    defective = [file for file in FILES if "# defect" in file.read_text(encoding="utf-8")]
    assert len(defective) > 100
    assert len(FILES) - len(defective) > 40
