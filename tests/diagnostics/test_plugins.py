"""Rules of other packages: found through entry points, run, explained, selected; and seen by the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autohybrid.plugins import entry_point_state, has_entry_points

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = '''
"""AHX901 shouting: a plugin's rule."""
from autohybrid.analysis.events import EventKind
from autohybrid.diagnostics.rule import Finding, Rule

KINDS = (EventKind.SYNTAX_ERROR,)
RULES = (Rule("AHX901", "shouting", "a syntax error, loudly", KINDS, lambda event: Finding("OH NO")),)
'''


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as pip leaves it, with one plugin."""
    site = tmp_path / "site"
    info = site / "shouting-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "shouting.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[autohybrid.rules]\nshouting = shouting:RULES\n")
    return site


def run(site: Path, *arguments: str) -> str:
    variables = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}
    command = [sys.executable, "-m", "autohybrid", *arguments]
    return subprocess.run(command, cwd=site.parent, env=variables, capture_output=True, text=True).stdout


def test_rules_of_plugins_run_like_others(site: Path) -> None:
    (site.parent / "a.py").write_text("x = (\n")
    found = json.loads(run(site, "check", "a.py", "--output-format", "json"))
    assert [item["code"] for item in found] == ["AH000", "AHX901"]
    assert [
        item["code"] for item in json.loads(run(site, "check", "a.py", "--output-format", "json", "--select", "AHX"))
    ] == ["AHX901"]
    assert "shouting" in run(site, "rule")
    (site / "shouting-1.0.dist-info" / "entry_points.txt").write_text("")
    assert "AHX901" not in run(site, "check", "a.py")


def test_only_the_group_asked_for_counts(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(site), str(site / "nothing")])
    assert has_entry_points("autohybrid.rules")
    assert not has_entry_points("autohybrid.ops")
    before = entry_point_state("autohybrid.rules")
    os.utime(site / "shouting-1.0.dist-info" / "entry_points.txt", ns=(1, 1))
    assert entry_point_state("autohybrid.rules") != before
