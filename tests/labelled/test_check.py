"""`check` on the labelled cases: every defect line is found, nothing else is reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from labelled.cases import ROOT, Case, load_cases

import autohybrid

CASES = load_cases()
#: Defects that cannot be told from correct code without shapes (see the rule elementwise-broadcast).
WITHOUT_SHAPES = "broadcast"


@pytest.fixture(scope="module")
def findings() -> Mapping[str, list[Any]]:
    """Errors and warnings by file."""
    found: dict[str, list[Any]] = {}
    for finding in autohybrid.check(ROOT / "cases"):
        if finding.severity.value in ("error", "warning"):
            found.setdefault(str((ROOT.parent / finding.span.path).resolve()), []).append(finding)
    return {path.rpartition("/cases/")[2]: listed for path, listed in found.items()}


def lines_of(findings: Mapping[str, list[Any]], case: Case) -> list[range]:
    listed = findings.get(str(case.path).rpartition("/cases/")[2], [])
    return [range(f.span.line, f.span.end_line + 1) for f in listed]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_nothing_is_reported_but_defects_and_advice(case: Case, findings: Mapping[str, list[Any]]) -> None:
    allowed = {line for line, _ in case.defects} | set(case.advice)
    for lines in lines_of(findings, case):
        assert allowed & set(lines), f"a finding on line {lines.start}, where there is no defect"


def test_defects_are_found(findings: Mapping[str, list[Any]]) -> None:
    missed = []
    total = 0
    for case in CASES:
        for line, kind in sorted(set(case.defects)):
            if kind == WITHOUT_SHAPES:
                continue
            total += 1
            if not any(line in lines for lines in lines_of(findings, case)):
                missed.append(f"{case.id}:{line} [{kind}]")
    assert len(missed) <= 0.02 * total, missed
