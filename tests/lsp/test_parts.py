"""The parts of the language server by themselves: positions, comments, options, and the project against `check`."""

from __future__ import annotations

import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls: pip install 'autohybrid[lsp]'")

from lsp_support import ROOT, SHAPE
from lsprotocol import types

from autohybrid.diagnostics.engine import Request, run
from autohybrid.diagnostics.files import SettingsTree
from autohybrid.lsp.documents import normalize, to_path, to_uri
from autohybrid.lsp.fix_all import line_edits
from autohybrid.lsp.positions import UTF8, UTF16, UTF32, Lines
from autohybrid.lsp.project import Project
from autohybrid.lsp.suppressing import suppressing_edit
from autohybrid.spans import Span
from autohybrid.transform.fixing import apply_fixes

TEXT = "a = 1\r\nb = 'é\U0001f600x'\rc\fd\n"


@pytest.mark.parametrize("name", ["positions", "actions", "lenses", "describe", "options"])
def test_the_examples_in_the_documentation_are_true(name: str) -> None:
    assert doctest.testmod(import_module(f"autohybrid.lsp.{name}")).failed == 0


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
def test_positions_and_places_are_inverse(encoding: str) -> None:
    lines = Lines(TEXT)
    assert [lines.line(number) for number in (1, 2, 3, 4)] == ["a = 1", "b = 'é\U0001f600x'", "c\fd", ""]
    for number in range(1, len(lines) + 1):
        for column in range(1, len(lines.line(number)) + 2):
            position = lines.position(number, column, encoding)
            assert lines.place(position, encoding) == (number, column)
            assert lines.position_at(lines.offset(position, encoding), encoding) == position


def test_a_position_past_the_end_is_moved_to_it() -> None:
    lines = Lines("ab\ncd")
    assert lines.offset(types.Position(0, 99), UTF16) == 2
    assert lines.offset(types.Position(9, 0), UTF16) == 5
    assert lines.place(types.Position(9, 9), UTF16) == (2, 3)
    assert lines.range(Span("x", 9, 1, 9, 2), UTF16).start == types.Position(1, 2)


@pytest.mark.parametrize("name", ["a b.py", "é#%.py", "x.py"])
def test_addresses_and_paths_are_inverse(tmp_path: Path, name: str) -> None:
    path = normalize(str(tmp_path / name))
    assert to_path(to_uri(path)) == path
    assert to_path("untitled:Untitled-1") == "untitled:Untitled-1"


@pytest.mark.parametrize("after", ["", "a\nB\nc\n", "new\na\nb\nc\n", "a\nb", "a\nc\n", "a\nb\nc\nd"])
def test_line_edits_lead_from_one_text_to_the_other(after: str) -> None:
    before = "a\nb\nc\n"
    lines, text = Lines(before), before
    for edit in reversed(line_edits(before, after, UTF16)):
        start, end = lines.offset(edit.range.start, UTF16), lines.offset(edit.range.end, UTF16)
        text = text[:start] + edit.new_text + text[end:]
    assert text == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("n = x.shape[0]", "n = x.shape[0]  # autohybrid: ignore[AH101]"),
        ("n = x.shape[0]  # why", "n = x.shape[0]  # why  # autohybrid: ignore[AH101]"),
        ("n = x.shape[0]   ", "n = x.shape[0]  # autohybrid: ignore[AH101]"),
        ("n = x.shape[0]  # autohybrid: ignore[AH9] r", "n = x.shape[0]  # autohybrid: ignore[AH9, AH101] r"),
        ("n = (x.shape\n          [0])", "n = (x.shape\n          [0])  # autohybrid: ignore[AH101]"),
        ("n = x.shape[0], '''\n  '''", "n = x.shape[0], '''\n  '''  # autohybrid: ignore[AH101]"),
        ("n = x.shape[0] + \\\n          1", "n = x.shape[0] + \\\n          1  # autohybrid: ignore[AH101]"),
    ],
)
def test_the_comment_goes_where_it_silences(tmp_path: Path, line: str, expected: str) -> None:
    path = normalize(str(tmp_path / "net.py"))
    text = SHAPE.replace("n = x.shape[0]", line)
    project = Project([], texts={path: text})
    finding = next(item for item in project.check(path).shown if item.code == "AH101")
    edit = suppressing_edit(finding, Lines(text))
    assert edit is not None
    lines = Lines(text)
    start = lines.offset(lines.position(edit.span.line, edit.span.column, UTF32), UTF32)
    end = lines.offset(lines.position(edit.span.end_line, edit.span.end_column, UTF32), UTF32)
    new = text[:start] + edit.content + text[end:]
    assert new == SHAPE.replace("n = x.shape[0]", expected)
    project.update(path, new)
    assert "AH101" not in [item.code for item in project.check(path).shown]


def test_what_no_comment_can_silence_is_not_offered_one(tmp_path: Path) -> None:
    path = normalize(str(tmp_path / "net.py"))
    project = Project([], texts={path: "def f(:\n"})
    (finding,) = project.check(path).shown
    assert finding.code == "AH000" and suppressing_edit(finding, Lines("def f(:\n")) is None


def test_the_project_finds_what_check_finds(tmp_path: Path) -> None:
    """On the examples of every rule, each a file: what an editor shows is what the command line prints."""
    from autohybrid.diagnostics.rules import load_rules

    for rule in load_rules():
        for number, case in enumerate((*rule.invalid, *rule.valid)):
            (tmp_path / f"{rule.code.lower()}_{number}.py").write_text(case.source, encoding="utf-8")
    (tmp_path / "autohybrid.toml").write_text('severity = {AH101 = "warning"}\nignore = ["AH104"]\n')
    folder = normalize(str(tmp_path))
    expected = {
        (f"{folder}/{Path(finding.span.path).name}", finding.code, finding.span.line, finding.severity)
        for finding in run(Request((folder,), SettingsTree()))
    }
    project = Project([folder])
    found = {
        (path, finding.code, finding.span.line, finding.severity)
        for path in project.paths
        for finding in project.check(path).shown
    }
    assert found == expected and len(expected) > 100


def test_a_file_that_was_removed_meanwhile_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)
    (tmp_path / "other.py").write_text("from net import Net\n\n\nclass More(Net):\n    pass\n")
    project = Project([str(tmp_path)])
    stale = project.stale
    assert [Path(path).name for path in stale] == ["net.py", "other.py"]
    project.remove(stale[0])
    for path in stale:
        project.run_stale(path)
    assert project.stale == () and project.check(stale[0]).shown == () and project.paths == stale[1:]


def test_the_baseline_of_the_project_counts(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SHAPE)
    (tmp_path / "autohybrid.toml").write_text('baseline = "known.json"\n')
    command = [sys.executable, "-m", "autohybrid", "check", "--write-baseline", "--no-cache"]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    project = Project([str(tmp_path)])
    (path,) = project.paths
    assert project.check(path).shown == () and len(project.check(path).quiet) == 1
    project.update(path, SHAPE.replace("return", "m = x.ndim\n        return"))
    assert len(project.check(path).shown) == 1


def test_fixes_of_one_file_do_not_reach_into_others(tmp_path: Path) -> None:
    path = normalize(str(tmp_path / "net.py"))
    project = Project([], texts={path: SHAPE})
    assert apply_fixes(project.check(path).shown, project.text, unsafe=False).texts == {}


def test_without_pygls_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nreal = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'pygls' else real(name, *a)\n"
    )
    variables = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "autohybrid", "lsp"], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "pip install 'autohybrid[lsp]'" in done.stderr
