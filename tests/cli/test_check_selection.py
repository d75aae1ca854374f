"""`autohybrid check`: which rules run, which files are taken, what configuration files say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli_support import Cli, Outcome, finding_lines

pytestmark = pytest.mark.usefixtures("fake_rules")

EVERY = "badAH101\nbadAH102\nbadAH201\nbadAH301\n"


def found(result: Outcome) -> list[str]:
    assert result.code in (0, 1), result.err
    return [line.split()[1] for line in finding_lines(result)]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), ["AH101", "AH102", "AH201", "AH301"]),
        (("--select", "AH1"), ["AH101", "AH102"]),
        (("--select", "AH1,AH301"), ["AH101", "AH102", "AH301"]),
        (("--select", "AH1", "--select", "AH301"), ["AH101", "AH102", "AH301"]),
        (("--select", "tensor-shape"), ["AH101"]),
        (("--select", "ah101"), ["AH101"]),
        (("--ignore", "AH1"), ["AH201", "AH301"]),
        (("--ignore", "AH1", "--select", "AH101"), ["AH101"]),
        (("--select", "ALL", "--ignore", "AH1,AH2"), ["AH301"]),
        (("--ignore", "ALL", "--extend-select", "AH102"), ["AH102"]),
        (("--select", "AH1", "--ignore", "AH1"), []),
    ],
)
def test_the_longer_prefix_wins(cli: Cli, tmp_path: Path, flags: tuple[str, ...], expected: list[str]) -> None:
    (tmp_path / "a.py").write_text(EVERY)
    assert found(cli("check", ".", *flags)) == expected


@pytest.mark.parametrize(("word", "hint"), [("AH999", "AH9"), ("tensor-shap", "`tensor-shape`"), ("E501", "")])
def test_an_unknown_rule_exits_2(cli: Cli, tmp_path: Path, word: str, hint: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    result = cli("check", ".", "--select", word)
    assert result.code == 2
    assert f"`{word}` in `select` is no rule code, prefix or rule name" in result.err
    assert hint in result.err


def test_per_file_ignores_hold_for_matching_files_only(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "a.py").write_text(EVERY)
    (tmp_path / "tests" / "b.py").write_text(EVERY)
    result = cli("check", ".", "--per-file-ignores", "tests/**:AH1,AH2", "--per-file-ignores", "a.py:AH3")
    assert [line.split()[0][:5] for line in finding_lines(result)] == ["a.py:"] * 3 + ["tests"]
    assert found(result) == ["AH101", "AH102", "AH201", "AH301"]


def test_what_is_only_possible_is_shown_when_asked_for(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101_possible\nbadAH102_likely\nbadAH201_info\n")
    assert found(cli("check", ".")) == ["AH102"]
    assert found(cli("check", ".", "--pedantic")) == ["AH101", "AH102", "AH201"]
    assert found(cli("check", ".", "--extend-select", "AH101")) == ["AH101", "AH102"]


def test_the_configuration_is_read_and_flags_go_first(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(EVERY)
    (tmp_path / "pyproject.toml").write_text('[tool.autohybrid]\nselect = ["AH1"]\nseverity = {AH102 = "warning"}\n')
    assert found(cli("check", ".")) == ["AH101", "AH102"]
    assert "AH102 warning" in cli("check", ".").out
    assert found(cli("check", ".", "--select", "AH3")) == ["AH301"]
    assert found(cli("check", ".", "--isolated")) == ["AH101", "AH102", "AH201", "AH301"]


def test_the_nearest_configuration_wins(cli: Cli, tmp_path: Path) -> None:
    for folder, select in (("", "AH1"), ("sub", "AH2")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "a.py").write_text(EVERY)
        (tmp_path / folder / "autohybrid.toml").write_text(f'select = ["{select}"]\n')
    assert found(cli("check", ".")) == ["AH101", "AH102", "AH201"]


def test_extend_starts_from_another_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(EVERY)
    (tmp_path / "base.toml").write_text('select = ["AH1"]\nignore = ["AH102"]\n')
    (tmp_path / ".autohybrid.toml").write_text('extend = "base.toml"\nextend-select = ["AH3"]\n')
    assert found(cli("check", ".")) == ["AH101", "AH301"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["AH1"]', "unknown key `selct`; did you mean `select`?"),
        ('select = "AH1"', "`select` must be a list of strings"),
        ("jobs = 0", "`jobs` must be a whole number of at least 1"),
        ('output-format = "jsn"', "`output-format` must be one of"),
        ('severity = {AH1 = "fatal"}', "`severity` must be a table of codes"),
        ('select = ["AH1"', "is not valid TOML"),
        ('extend = "autohybrid.toml"', "`extend` leads back to"),
        ('extend = "none.toml"', "cannot read"),
        ('ignore = ["AH7777"]', "`AH7777` in `ignore` is no rule code"),
    ],
)
def test_a_faulty_configuration_exits_2(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "autohybrid.toml").write_text(text + "\n")
    result = cli("check", ".")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_a_pyproject_that_only_mentions_the_tool_configures_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101\n")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["autohybrid"]\n')
    assert found(cli("check", ".")) == ["AH101"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with files that ignore rules hide."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    names = (
        "a.py",
        "gen/b.py",
        "gen/keep.py",
        "build/c.py",
        "src/.venv/d.py",
        "src/e.pyi",
        "src/f.txt",
        "src/gen/g.py",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("badAH101\n")
    (tmp_path / ".gitignore").write_text("# made\n/gen/*\n!/gen/keep.py\n")
    return tmp_path


def files(result: Outcome) -> list[str]:
    assert result.code in (0, 1), result.err
    return [line.split(":")[0] for line in finding_lines(result)]


def test_gitignore_and_the_usual_folders_are_skipped(cli: Cli, tree: Path) -> None:
    assert files(cli("check", ".")) == ["a.py", "gen/keep.py", "src/e.pyi", "src/gen/g.py"]
    assert files(cli("check")) == ["a.py", "gen/keep.py", "src/e.pyi", "src/gen/g.py"]


def test_gitignore_can_be_ignored(cli: Cli, tree: Path) -> None:
    assert "gen/b.py" in files(cli("check", ".", "--no-respect-gitignore"))


def test_a_path_given_outright_is_taken(cli: Cli, tree: Path) -> None:
    assert files(cli("check", "build/c.py", "gen/b.py")) == ["build/c.py", "gen/b.py"]
    assert files(cli("check", "build")) == ["build/c.py"]
    result = cli("check", "build/c.py", "gen/b.py", "a.py", "--force-exclude")
    assert files(result) == ["a.py"]


@pytest.mark.parametrize("rules", ["/env/", "env", "*", "env/*"])
def test_an_ignored_folder_that_is_asked_for_is_checked(cli: Cli, tree: Path, rules: str) -> None:
    (tree / "env" / "lib").mkdir(parents=True)
    (tree / "env" / "lib" / "x.py").write_text("badAH101\n")
    (tree / ".gitignore").write_text(rules + "\n")
    assert files(cli("check", "env/lib")) == ["env/lib/x.py"]
    assert "env/lib/x.py" not in files(cli("check", "."))
    (tree / ".gitignore").write_text("")
    (tree / "env" / ".gitignore").write_text("*\n")
    assert files(cli("check", "env/lib")) == ["env/lib/x.py"]
    assert "env/lib/x.py" not in files(cli("check", "."))


def test_gitignores_above_the_checked_folder_count(cli: Cli, tree: Path) -> None:
    (tree / "src" / "x").mkdir()
    (tree / "src" / "x" / "made.py").write_text("badAH101\n")
    (tree / ".gitignore").write_text("made.py\n")
    assert "src/x/made.py" not in files(cli("check", "src/x", "a.py"))


def test_exclude_replaces_and_extend_exclude_adds(cli: Cli, tree: Path) -> None:
    assert files(cli("check", ".", "--exclude", "src")) == ["a.py", "build/c.py", "gen/keep.py"]
    assert files(cli("check", ".", "--extend-exclude", "src/gen,*.pyi")) == ["a.py", "gen/keep.py"]
    (tree / "autohybrid.toml").write_text('extend-exclude = ["src"]\n')
    assert files(cli("check", ".")) == ["a.py", "gen/keep.py"]


def test_a_path_given_twice_is_checked_once(cli: Cli, tree: Path) -> None:
    assert files(cli("check", "a.py", "./a.py", str(tree / "a.py"))) == ["a.py"]
