"""Limits that keep the code readable: size of files and functions, forbidden names and constructs, one rule a file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "autohybrid"
FILES = sorted(PACKAGE.rglob("*.py"))
TEXTS = [
    path
    for pattern in (
        "autohybrid/**/*",
        "docs/**/*",
        "examples/**/*",
        "benchmarks/**/*",
        "editors/**/*",
        ".github/**/*",
        "*",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.suffix in (".py", ".md", ".toml", ".yaml", ".yml", ".json", ".txt", ".js", ".ts", ".html", "")
    and path.is_file()
    and not any(part in ("__pycache__", "node_modules", ".venv", ".git") for part in path.parts)
]
LONGEST_FILE, LONGEST_FUNCTION = 500, 60
# Paths of somebody's machine, in text that is shipped or read by users.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:work|home|root|Users|mnt|workspace)/[\w.-]+|[A-Z]:\\\\?Users\\\\?\w+")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions_of(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST_FILE
    long = [
        f"{node.name} at line {node.lineno}: {node.end_lineno - node.lineno + 1} lines"
        for node in functions_of(ast.parse(text))
        if node.end_lineno is not None and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not long


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_every_module_says_what_it_owns(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_exceptions_are_caught_by_name(path: Path) -> None:
    broad = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or re.search(r"\b(Exception|BaseException)\b", ast.unparse(node.type)))
        and not _passes_it_on(node)
    ]
    assert not broad


def _passes_it_on(handler: ast.ExceptHandler) -> bool:
    """Whether the handler raises again what it caught, or keeps all of it for another thread to raise."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise):
        return last.exc is None
    is_kept = isinstance(last, ast.Assign) and isinstance(last.value, ast.Name) and last.value.id == handler.name
    return is_kept and handler.type is not None and ast.unparse(handler.type) == "BaseException"


def test_no_file_is_a_drawer_of_odds_and_ends() -> None:
    assert not [name_of(path) for path in FILES if path.stem in ("utils", "misc", "common")]


def test_names_of_test_files_are_unique() -> None:
    """pytest imports them, and what they share, by their bare names."""
    names = [path.name for path in (ROOT / "tests").glob("*/*.py") if path.name not in ("conftest.py", "__init__.py")]
    assert sorted(names) == sorted(set(names))


def test_a_rule_is_one_file_and_a_file_one_rule() -> None:
    rules = [path for path in (PACKAGE / "diagnostics" / "rules").glob("*.py") if path.stem != "__init__"]
    assert rules
    for path in rules:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Rule"]
        assert len(made) == 1, f"{name_of(path)} makes {len(made)} rules"
        (name,) = [keyword.value for keyword in made[0].keywords if keyword.arg == "name"]
        assert isinstance(name, ast.Constant)
        assert path.stem == str(name.value).replace("-", "_"), f"{name_of(path)} holds the rule {name.value}"


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_no_text_names_a_path_of_some_machine(path: Path) -> None:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [f"line {number}: {line.strip()[:80]}" for number, line in enumerate(lines, 1) if MACHINE_PATH.search(line)]
    assert not found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /work/main", True),
        ("`/home/me/x.py`", True),
        ("C:\\Users\\me", True),
        ("https://example.org/home/me", False),
        ("~/work/x", False),
        ("src/work/x.py", False),
    ],
)
def test_the_search_for_machine_paths_finds_them(text: str, expected: bool) -> None:
    assert bool(MACHINE_PATH.search(text)) is expected
