"""What the fixes of one rule make of a source: used by the tests of the cases, with and without MXNet."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from autohybrid.analysis.project import AnalysisSettings, analyze
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.judge import judge
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.rule import Rule
from autohybrid.transform.fixes import complete
from autohybrid.transform.fixing import apply_fixes

_ROUNDS = 5


def find(rules: Sequence[Rule], source: str) -> list[Diagnostic]:
    """The findings of some rules, with every fix there is."""
    findings = judge(analyze([SourceFile("net.py", source)], AnalysisSettings()), rules)
    return complete(findings, lambda path: source)


def fix(rules: Sequence[Rule], source: str) -> str:
    """The source after the fixes of some rules, applied until nothing changes."""
    texts = {"net.py": source}
    for _ in range(_ROUNDS):
        new = apply_fixes(find(rules, texts["net.py"]), texts.__getitem__, unsafe=True).texts
        if not new:
            return texts["net.py"]
        texts = dict(new)
    raise AssertionError("the fixes do not come to an end")


def changed_lines(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that are new, and those that are gone, stripped and without the empty ones."""
    before, after = old.split("\n"), new.split("\n")
    added: list[str] = []
    gone: list[str] = []
    for tag, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += [line.strip() for line in before[first:last] if line.strip()]
            added += [line.strip() for line in after[start:end] if line.strip()]
    return tuple(added), tuple(gone)
