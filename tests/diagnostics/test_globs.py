"""Glob patterns against git itself: `git check-ignore` is the judge."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from autohybrid.diagnostics.globs import is_ignored, make_pattern_set

PATHS = [
    "a.py", "b.txt", "src/a.py", "src/deep/a.py", "src/deep/er/b.py", "build/x.py", "src/build/y.py", "a b.py", "a1.py",
    "#x.py", "!y.py", "[z].py", "src/.hidden.py", "doc/a/b/c.py", "foo/bar.py", "ba*r.py", "é.py",
]  # fmt: skip
PATTERNS = [
    "*.py",
    "a.py",
    "/a.py",
    "src/",
    "src",
    "build/",
    "/build/",
    "src/*.py",
    "src/**/a.py",
    "**/a.py",
    "src/**",
    "**/deep",
    "deep/",
    "doc/*/c.py",
    "doc/**/c.py",
    "a?.py",
    "a[0-9].py",
    "a[!0-9].py",
    "\\#x.py",
    "\\!y.py",
    "\\[z\\].py",
    "# x",
    "*",
    "foo/*",
    ".*",
    "ba\\*r.py",
    "a b.py",
    "a.py  ",
    "**",
    "[",
    "[]",
    "é.py",
    "/src/deep/",
    "er",
    "*/a.py",
    "a.p*y",
    "src/deep/**/b.py",
    "**/",
    "/",
    "***.py",
    "x**y",
    "a**.py",
]


def git_ignored(folder: Path) -> set[str]:
    run = subprocess.run(
        ["git", "-c", "core.quotePath=false", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=folder, input="\0".join(PATHS), capture_output=True, text=True,
    )  # fmt: skip
    return {path for path in run.stdout.split("\0") if path}


def ours(folder: Path, lines: list[str]) -> set[str]:
    sets = (make_pattern_set(str(folder), lines),)
    found = set()
    for path in PATHS:
        parts = path.split("/")
        steps = [("/".join(parts[: at + 1]), at + 1 < len(parts)) for at in range(len(parts))]
        if any(is_ignored(sets, str(folder / step), is_folder) for step, is_folder in steps):
            found.add(path)
    return found


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_git_matches(repository: Path, pattern: str) -> None:
    (repository / ".gitignore").write_text(pattern + "\n", encoding="utf-8")
    assert ours(repository, [pattern]) == git_ignored(repository)


@pytest.mark.parametrize(
    "lines",
    [["*.py", "!a.py"], ["!a.py", "*.py"], ["src/*", "!src/deep"], ["*", "!*/", "!*.txt"], ["", "# c", "a.py\r"]],
)
def test_the_last_match_decides_as_in_git(repository: Path, lines: list[str]) -> None:
    (repository / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    expected = git_ignored(repository)
    assert ours(repository, [line.rstrip("\r") for line in lines]) == expected
