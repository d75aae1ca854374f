"""Every rule against the cases in its own file: what is found, where, how surely, and nothing else."""

from __future__ import annotations

import ast
import re

import pytest
from rules.case_fixes import changed_lines, fix

from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile, SourceText
from autohybrid.diagnostics.codes import family_of, is_code
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.rule import Invalid, Rule, Valid
from autohybrid.diagnostics.rules import find_rule, load_rules

RULES = load_rules()
SECTIONS = (
    "What it finds:",
    "Why a graph cannot express it:",
    "Example:",
    "Instead:",
    "Fix safety:",
    "When to suppress:",
    "MXNet 1.9.1:",
)
VALID = [(rule, case) for rule in RULES for case in rule.valid]
INVALID = [(rule, case) for rule in RULES for case in rule.invalid]


def find(rule: Rule, source: str) -> list[Diagnostic]:
    return judge(analyze([SourceFile("net.py", source)], AnalysisSettings()), [rule])


def marked(source: str, findings: list[Diagnostic]) -> list[str]:
    text = SourceText("net.py", source)
    return [text.between(finding.span) for finding in findings]


@pytest.mark.parametrize(("rule", "case"), VALID, ids=[f"{rule.code}-{n}" for n, (rule, _) in enumerate(VALID)])
def test_valid_case_has_no_finding(rule: Rule, case: Valid) -> None:
    assert marked(case.source, find(rule, case.source)) == []


@pytest.mark.parametrize(("rule", "case"), INVALID, ids=[f"{rule.code}-{n}" for n, (rule, _) in enumerate(INVALID)])
def test_invalid_case_is_found_exactly(rule: Rule, case: Invalid) -> None:
    findings = find(rule, case.source)
    assert marked(case.source, findings) == list(case.marked)
    assert {finding.code for finding in findings} == {rule.code}
    assert {finding.confidence for finding in findings} == {case.confidence}
    assert {finding.severity for finding in findings} == {rule.grade(case.confidence)}


@pytest.mark.parametrize(("rule", "case"), INVALID, ids=[f"{rule.code}-{n}" for n, (rule, _) in enumerate(INVALID)])
def test_fix_gives_the_lines_the_case_states(rule: Rule, case: Invalid) -> None:
    fixed = fix([rule], case.source)
    added, gone = changed_lines(case.source, fixed)
    assert added == case.fixed
    assert (() if added else gone) == case.removed
    if fixed != case.source:
        ast.parse(fixed)
        assert find(rule, fixed) == [] and fix([rule], fixed) == fixed


@pytest.mark.parametrize(("rule", "case"), INVALID, ids=[f"{rule.code}-{n}" for n, (rule, _) in enumerate(INVALID)])
def test_message_is_in_house_style(rule: Rule, case: Invalid) -> None:
    for finding in find(rule, case.source):
        assert not finding.message.endswith(".")
        assert not finding.help.endswith(".") and finding.help
        assert finding.message[0] == "`" or finding.message[0].islower() or finding.message[0] == "F"
        assert finding.message.count("`") % 2 == 0 and finding.help.count("`") % 2 == 0
        assert len(finding.labels) <= 3


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_rule_is_documented(rule: Rule) -> None:
    assert is_code(rule.code) and family_of(rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.doc.startswith(f"{rule.code} {rule.name}: ")
    places = [rule.doc.find(f"\n{section}") for section in SECTIONS]
    assert -1 not in places and places == sorted(places)
    assert find_rule(rule.code) is rule and find_rule(rule.name) is rule


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_cases_are_python_unless_the_rule_is_about_that(rule: Rule) -> None:
    if rule.code != "AH000":
        for case in (*rule.valid, *rule.invalid):
            ast.parse(case.source)


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES) == len({rule.name for rule in RULES})
    assert len(RULES) >= 45
