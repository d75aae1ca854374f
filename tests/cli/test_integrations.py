"""The files that other tools read: pre-commit hooks, the GitHub Action, its problem matcher, what CI runs."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from cli_support import Cli

ROOT = Path(__file__).resolve().parents[2]


def test_the_matcher_matches_concise_lines(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = (\n")
    (tmp_path / "b.py").write_text("x = 1  # autohybrid: ignroe\n")
    out = cli("check", "a.py", "b.py", "--output-format", "concise", "-q").out
    (matcher,) = json.loads((ROOT / ".github" / "autohybrid-matcher.json").read_text())["problemMatcher"]
    (pattern,) = matcher["pattern"]
    matches = [re.match(pattern["regexp"], line) for line in out.splitlines()]
    found = [
        tuple(match[pattern[name]] for name in ("file", "line", "column", "code", "severity"))
        for match in matches
        if match
    ]
    assert found == [("a.py", "1", "5", "AH000", "error"), ("b.py", "1", "8", "AH902", "warning")]
    assert len(matches) == len(found)


@pytest.mark.parametrize("flags", [[], ["--fix", "--exit-non-zero-on-fix"]], ids=["check", "fix"])
def test_the_hooks_call_flags_that_exist(cli: Cli, tmp_path: Path, flags: list[str]) -> None:
    yaml = pytest.importorskip("yaml")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["autohybrid-check", "autohybrid-fix"]
    words = shlex.split(hooks[bool(flags)]["entry"])
    assert words[0] == "autohybrid"
    assert set(flags) <= set(words)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert cli(*words[1:], "a.py").code == 0


def test_the_action_passes_its_inputs_through_the_environment() -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"], "an input inside the script could run as code"
    used = re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text())
    assert set(used) == set(action["inputs"])


def test_ci_runs_what_the_readme_names() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    readme = (ROOT / "README.md").read_text()
    targets = re.findall(r"^make (\w+)$", script, re.MULTILINE)
    assert targets == ["test", "lint"]
    makefile = (ROOT / "Makefile").read_text()
    for target in (*targets, "demo"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
