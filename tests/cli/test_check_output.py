"""Formats as the command prints them, output files, colours, baselines, the cache, and how a run ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import Cli, finding_lines

from autohybrid.cli.guard import Guard
from autohybrid.config import FORMATS
from autohybrid.diagnostics import cold_run
from autohybrid.diagnostics.render import MODULES

MATCHER = re.compile(r"^(.+?):(\d+):(\d+)(?:-(\d+):(\d+))?: (AH\d{3}) (error|warning|info)(?:\[\w+\])? (.*)$")


@pytest.fixture
def three(fake_rules: None, tmp_path: Path) -> Path:
    """A file with three findings."""
    (tmp_path / "a.py").write_text("badAH101\nx = badAH102_likely, badAH201_fix\n")
    return tmp_path


def test_every_format_of_the_configuration_has_a_renderer() -> None:
    assert set(MODULES) == set(FORMATS)


def test_concise_lines_match_the_problem_matcher(cli: Cli, three: Path) -> None:
    lines = cli("check", ".", "--output-format", "concise").out.splitlines()
    matches = [MATCHER.match(line) for line in lines[:-2]]
    assert [match and match.groups() for match in matches] == [
        ("a.py", "1", "1", "1", "9", "AH101", "error", "`AH101` is bad"),
        ("a.py", "2", "5", "2", "20", "AH102", "warning", "`AH102` is bad"),
        ("a.py", "2", "22", "2", "34", "AH201", "error", "`AH201` is bad"),
    ]
    assert lines[-2:] == ["Found 2 errors, 1 warning in 1 of 1 file.", "1 fixable with `--fix`."]


def test_quiet_leaves_the_summary_out_and_silent_everything(cli: Cli, three: Path) -> None:
    assert len(cli("check", ".", "-q").out.splitlines()) == 3
    result = cli("check", ".", "-s")
    assert (result.code, result.out) == (1, "")


def test_statistics(cli: Cli, three: Path) -> None:
    (three / "b.py").write_text("badAH101\nbadAH201\n")
    assert cli("check", ".", "--statistics", "-q").out == (
        "2  AH101  [ ] tensor-shape\n2  AH201  [-] host-sync\n1  AH102  [ ] tensor-dtype\n"
    )
    rows = json.loads(cli("check", ".", "--statistics", "--output-format", "json").out)
    assert rows[1] == {"code": "AH201", "name": "host-sync", "count": 2, "fixable": 1}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_is_the_same_twice_and_in_a_file(cli: Cli, three: Path, name: str) -> None:
    first = cli("check", ".", "--output-format", name)
    again = cli("check", ".", "--output-format", name)
    assert first.code == again.code == 1
    assert first.out == again.out
    result = cli("check", ".", "--output-format", name, "-o", "report")
    assert (result.code, result.out) == (1, "")
    assert (three / "report").read_text(encoding="utf-8") == first.out


def test_the_suffix_of_the_output_file_chooses_the_format(cli: Cli, three: Path) -> None:
    cli("check", ".", "-o", "report.json")
    assert len(json.loads((three / "report.json").read_text())) == 3


def test_an_output_file_that_cannot_be_written_exits_2_and_leaves_nothing(cli: Cli, three: Path) -> None:
    result = cli("check", ".", "-o", "none/report.json")
    assert (result.code, result.out) == (2, "")
    assert result.err == "autohybrid: error: cannot write none/report.json: No such file or directory\n"
    (three / "folder").mkdir()
    assert cli("check", "a.py", "-o", "folder").code == 2
    assert sorted(path.name for path in three.iterdir() if path.name.endswith(".tmp")) == []


def test_the_format_may_come_from_the_environment(cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOHYBRID_OUTPUT_FORMAT", "json")
    assert len(json.loads(cli("check", ".").out)) == 3
    monkeypatch.setenv("AUTOHYBRID_OUTPUT_FORMAT", "jsn")
    result = cli("check", ".")
    assert result.code == 2
    assert "did you mean `json`?" in result.err


@pytest.mark.parametrize(
    ("variables", "flag", "expected"),
    [
        ({}, "auto", False),
        ({}, "always", True),
        ({"FORCE_COLOR": "1"}, "auto", True),
        ({"FORCE_COLOR": "0"}, "auto", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, "auto", True),
        ({"NO_COLOR": "1"}, "always", True),
        ({"FORCE_COLOR": "1"}, "never", False),
    ],
)
def test_colours_follow_flag_then_environment(
    cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], flag: str, expected: bool
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    result = cli("check", ".", "--output-format", "full", "--color", flag)
    assert ("\x1b[" in result.out) is expected
    plain = cli("check", ".", "--output-format", "full", "--color", "never").out
    assert [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", result.out).splitlines()] == plain.splitlines()


def test_github_appends_a_step_summary(cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(three / "summary.md"))
    cli("check", ".", "--output-format", "github")
    cli("check", ".", "--output-format", "github")
    text = (three / "summary.md").read_text()
    assert text.count("| `a.py:1:1` | AH101 | error | `AH101` is bad |") == 2


def test_a_baseline_hides_what_it_knows_wherever_it_moved(cli: Cli, three: Path) -> None:
    result = cli("check", ".", "--write-baseline", "--baseline", "known.json")
    assert (result.code, result.out, result.err) == (0, "", "autohybrid: wrote 3 findings to known.json\n")
    (three / "a.py").write_text("y = 1\nbadAH101\n\nx = badAH102_likely, badAH201_fix\nbadAH301\nbadAH101\n")
    result = cli("check", ".", "--baseline", "known.json")
    assert [line.split()[0] for line in finding_lines(result)] == ["a.py:5:1-5:9:", "a.py:6:1-6:9:"]
    assert "(3 known findings in the baseline)" in result.out


def test_a_baseline_in_the_configuration_is_relative_to_it(cli: Cli, three: Path) -> None:
    (three / "autohybrid.toml").write_text('baseline = "known.json"\n')
    assert cli("check", ".", "--write-baseline").code == 0
    assert cli("check", ".").code == 0
    assert (three / "known.json").is_file()


@pytest.mark.parametrize(
    "text", [None, "", "[]", "{}", '{"schema": 2, "findings": []}', '{"schema": 1, "findings": 3}']
)
def test_a_faulty_baseline_exits_2(cli: Cli, three: Path, text: str | None) -> None:
    if text is not None:
        (three / "known.json").write_text(text)
    result = cli("check", ".", "--baseline", "known.json")
    assert (result.code, result.out) == (2, "")
    assert "baseline" in result.err and "internal" not in result.err


def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    runs: list[int] = []
    real = cold_run.analyze

    def analyze(files: list[object], settings: object) -> object:
        runs.append(len(files))
        return real(files, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(cold_run, "analyze", analyze)
    return runs


def test_an_unchanged_project_is_not_analysed_again(cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    first = cli("check", ".", "--output-format", "json")
    os.utime(three / "a.py", ns=(1, 1))
    second = cli("check", ".", "--output-format", "json")
    third = cli("check", ".", "--output-format", "json", "--no-cache")
    assert runs == [1, 1]
    assert first.out == second.out == third.out
    (three / "a.py").write_text("badAH201\n")
    assert '"AH201"' in cli("check", ".", "--output-format", "json").out
    (three / "b.py").write_text("badAH301\n")
    assert '"AH301"' in cli("check", ".", "--output-format", "json").out


def test_other_settings_do_not_meet_the_cache_of_these(cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = count_runs(monkeypatch)
    cli("check", ".")
    cli("check", ".", "--select", "AH1")
    (three / "autohybrid.toml").write_text('assume-static = ["n"]\n')
    cli("check", ".")
    assert runs == [1, 1]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"files": {}}', b"\xff\xfe", b'{"files":{"a.py":[0,0,""]}}'])
def test_a_damaged_cache_is_a_cold_run(cli: Cli, three: Path, damage: bytes) -> None:
    first = cli("check", ".")
    for entry in (three / ".autohybrid_cache").glob("*.json"):
        entry.write_bytes(damage)
    again = cli("check", ".")
    assert (again.out, again.err) == (first.out, "")


def test_a_cache_that_cannot_be_written_is_a_cold_run(cli: Cli, three: Path) -> None:
    (three / "cache").write_text("a file")
    result = cli("check", "a.py", "--cache-dir", "cache")
    assert (result.code, result.err) == (1, "")


def test_clean_removes_the_cache(cli: Cli, three: Path) -> None:
    cli("check", ".")
    assert cli("clean").err == "autohybrid: removed .autohybrid_cache\n"
    assert not (three / ".autohybrid_cache").exists()
    assert cli("clean").err == "autohybrid: there is no cache to remove\n"
    assert cli("clean", "nowhere").code == 2


def test_an_internal_error_is_one_line_and_exit_2(cli: Cli, three: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(cold_run, "analyze", broken)
    result = cli("check", ".", "--no-cache")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err == "autohybrid: error: internal error: ZeroDivisionError: oh; set AUTOHYBRID_DEBUG=1 to see where\n"
    )
    monkeypatch.setenv("AUTOHYBRID_DEBUG", "1")
    assert "Traceback" in cli("check", ".", "--no-cache").err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (SystemExit(0), 0), (SystemExit(3), 3)])
def test_the_guard_turns_every_end_into_a_code(error: BaseException, code: int) -> None:
    guard = Guard()
    with guard:
        raise error
    assert guard.code == code


ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, cwd: Path, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """The command in a process of its own, importing the package under test."""
    command = [sys.executable, "-m", "autohybrid", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"file{number}.py").write_text("x = (\n" * 5)
    process = start("check", ".", "--no-cache", "--output-format", "full", cwd=tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_watch_checks_again_after_a_change_and_ends_with_130(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    process = start("check", "a.py", "--watch", "--no-cache", cwd=tmp_path)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines == [b"autohybrid: checking\n", b"All checks passed in 1 file.\n", b"autohybrid: done\n"]
    time.sleep(0.05)
    (tmp_path / "a.py").write_text("x = (\n")
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[1].startswith(b"a.py:1:5")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130


def test_warnings_of_the_parser_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from mxnet.gluon import HybridBlock\nx = '\\d'\ny = 1 is 1\n")
    process = start("check", ".", "--no-cache", cwd=tmp_path, environment={"PYTHONWARNINGS": "always"})
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b""), out


def test_files_of_a_folder_that_say_nothing_of_gluon_are_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = (\n")
    (tmp_path / "net.py").write_text("from mxnet.gluon import HybridBlock\nx = (\n")
    for paths, found in (
        ((".",), [b"net.py"]),
        ((".", "other.py"), [b"net.py", b"other.py"]),
        (("other.py",), [b"other.py"]),
    ):
        process = start("check", *paths, "--output-format", "concise", "-q", cwd=tmp_path)
        lines = process.communicate()[0].splitlines()
        assert [line.partition(b":")[0] for line in lines] == found
        assert all(b"AH000" in line for line in lines)


def test_ascii_terminals_get_ascii(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("é = (\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = start("check", "a.py", "--no-cache", "--output-format", "full", cwd=tmp_path, environment=environment)
    out, err = process.communicate()
    assert (process.returncode, err) == (1, b"")
    assert out.isascii() and b"-->" in out
