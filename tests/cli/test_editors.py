"""What editors are given: the page about them and the extension fit the command line and the server."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from cli_support import Cli

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
EXTENSION = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def test_settings_on_the_page_can_be_read() -> None:
    assert len([json.loads(text) for text in blocks("json")]) == 3
    assert [tomllib.loads(text)["language-server"]["autohybrid"]["args"] for text in blocks("toml")] == [["lsp"]]
    yaml = pytest.importorskip("yaml")
    (config,) = [yaml.safe_load(text) for text in blocks("yaml")]
    (hook,) = config["repos"][0]["hooks"]
    known = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    assert {key: known[key] for key in ("id", "name", "entry", "language", "types_or", "require_serial")} == {
        key: value for key, value in hook.items() if key != "additional_dependencies"
    }


def test_the_matchers_match_concise_lines(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = (\n")
    line = cli("check", "a.py", "--output-format", "concise", "-q").out.splitlines()[0]
    (task,) = [json.loads(text)["tasks"][0] for text in blocks("json") if "tasks" in text]
    pattern = task["problemMatcher"]["pattern"]
    assert EXTENSION["contributes"]["problemMatchers"][0]["pattern"] == pattern
    match = re.match(pattern["regexp"], line)
    assert match is not None
    names = ("file", "line", "column", "endLine", "endColumn", "code", "severity")
    assert [match[pattern[name]] for name in names] == ["a.py", "1", "5", "1", "6", "AH000", "error"]


def test_the_extension_sets_the_options_that_the_server_takes() -> None:
    options = {field.name for field in fields(pytest.importorskip("autohybrid.lsp.options").Options)}
    names = {name.removeprefix("autohybrid.") for name in EXTENSION["contributes"]["configuration"]["properties"]}
    snake = {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in names}
    assert snake - options == {"enable", "path", "interpreter"} and options <= snake
    for option in options:
        assert f"`{re.sub('_([a-z])', lambda letter: letter[1].upper(), option)}`" in PAGE


def test_the_lock_file_belongs_to_the_package() -> None:
    lock = json.loads((ROOT / "editors" / "vscode" / "package-lock.json").read_text())
    own = lock["packages"][""]
    assert own["dependencies"] == EXTENSION["dependencies"] and own["devDependencies"] == EXTENSION["devDependencies"]
