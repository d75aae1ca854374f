"""No text makes a check crash: random bytes, random Python-like text, random notebooks, comments cut anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autohybrid.config import Settings
from autohybrid.diagnostics.engine import Request, run
from autohybrid.diagnostics.files import SettingsTree, decode
from autohybrid.diagnostics.render import MODULES, render
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.suppressions import read_directives

TREE = SettingsTree(Settings(root=str(Path.cwd())))
WORDS = st.sampled_from(
    ["# autohybrid: ", "ignore", "[AH101]", "# noqa", ": AH101", ", ", "file-ignore", "off", "on", "\n", " ", "(", ")",
     "'''",
     '"', "\\\n", "\t", "x = 1", "class A(HybridBlock):\n", " def hybrid_forward(self, F, x):\n", "  return x.shape",
     "\r", "\f", "é", "\x00", "\ufeff", "[", "]", "if x:\n"]
)  # fmt: skip


def check(name: str, data: bytes) -> None:
    report = run(Request((name,), TREE, pedantic=True, stdin=data))
    for format_name in MODULES:
        render(format_name, report, Style(width=40, colour=True))
    for finding in report:
        assert (finding.span.line, finding.span.column) <= (finding.span.end_line, finding.span.end_column)
        assert finding.span.line >= 1 and finding.span.column >= 1


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    check("a.py", data)
    check("a.ipynb", data)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=30).map("".join))
def test_any_mixture_of_code_and_comments(text: str) -> None:
    check("a.py", text.encode())
    # Text with a null byte is no Python and never gets here; the tokenizer of CPython 3.13.0 breaks on it.
    for directive in read_directives("a.py", text.replace("\0", "")):
        assert directive.first <= directive.last


KEYS = st.sampled_from(
    ["cells", "cell_type", "source", "metadata", "language_info", "name", "worksheets", "input", "code"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=4), st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=4))
def test_any_notebook(document: dict[str, object], sources: list[str]) -> None:
    check("a.ipynb", json.dumps(document).encode())
    cells = [{"cell_type": "code", "source": source} for source in sources]
    check("a.ipynb", json.dumps({"cells": cells}).encode())


@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "utf-16", "cp1252", "rot13", "idna", "undefined", "unicode_escape", ""]
)
def test_any_coding_comment(encoding: str) -> None:
    decode(f"# coding: {encoding}\nx = 'é'\n".encode())
