"""What README and guide show works: the Python runs, commands and flags exist, settings are read."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from autohybrid.cli.dispatch import command_names, load_command, make_parser
from autohybrid.config import read_settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/linter.md"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text("from mxnet.gluon import HybridBlock\nx = (\n")
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0, run.stderr
    assert ("AH000" in run.stdout) is ("check(" in code)


@pytest.mark.parametrize("text", blocks("toml"))
def test_settings_are_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert read_settings(str(tmp_path / "pyproject.toml")) is not None


def commands() -> list[str]:
    lines = [line for block in blocks("console") for line in block.splitlines() if line.startswith("$ autohybrid")]
    return [line.split("#")[0].removeprefix("$ autohybrid").strip() for line in lines]


@pytest.mark.parametrize("command", commands())
def test_commands_and_flags_exist(command: str) -> None:
    words = [word for word in shlex.split(command) if not word.startswith("[")] or ["--help"]
    if words[0].startswith("-"):
        assert words == ["--help"]
        return
    assert words[0] in command_names()
    options = make_parser(words[0], load_command(words[0])).options
    assert all(word in options for word in words[1:] if word.startswith("-") and word != "-")


def test_there_is_something_to_test() -> None:
    assert len(commands()) > 12
    assert len(blocks("python")) == 3
