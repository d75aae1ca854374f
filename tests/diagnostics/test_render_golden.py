"""Every renderer against files kept in `tests/data/render`. To accept a change: UPDATE_GOLDEN=1 and read the diff."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from sample_report import make_report

from autohybrid.diagnostics.render import MODULES, render, sarif
from autohybrid.diagnostics.render.statistics import render_statistics
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.rule import Rule
from autohybrid.version import __version__

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "render"
STYLES = {
    "full-80": ("full", Style(width=80)),
    "full-200": ("full", Style(width=200)),
    "full-44-ascii": ("full", Style(width=44, unicode=False)),
    "full-colour": ("full", Style(width=80, colour=True)),
    **{name: (name, Style(show_suppressed=True)) for name in MODULES if name != "full"},
}


RULES = tuple(
    Rule(code, f"rule-of-{code.lower()}", f"about {code}", (), lambda event: None, doc=f"{code} explained.\n")
    for code in ("AH101", "AH102", "AH401")
)


@pytest.fixture(autouse=True)
def fixed_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """SARIF lists the rules: here always the same ones."""
    monkeypatch.setattr(sarif, "load_rules", lambda: RULES)


def normal(text: str) -> str:
    """Without what differs between machines and versions: the root of absolute paths, the tool's version."""
    text = re.sub(r'"filename": "[^"]*/src/', '"filename": "ROOT/src/', text)
    return text.replace(f'ersion": "{__version__}"', 'ersion": "VERSION"')


def compare(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(STYLES))
def test_a_report_looks_as_recorded(name: str) -> None:
    format_name, style = STYLES[name]
    compare(name, normal(render(format_name, make_report(), style)))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_an_empty_report_looks_as_recorded(name: str) -> None:
    compare(f"empty-{name}", normal(render(name, Report((), files=2), Style())))


def test_statistics_look_as_recorded() -> None:
    compare("statistics", render_statistics(make_report(), Style()))


@pytest.mark.parametrize("width", [30, 44, 80, 120])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    from autohybrid.diagnostics.render.style import cell_width

    text = render("full", make_report(), Style(width=width, summary=False))
    words = max(cell_width(word) for word in text.split())
    too_wide = [row for row in text.splitlines() if cell_width(row) > max(width, words + 30) and "╭─" not in row]
    assert not too_wide
    source_rows = [row for row in text.splitlines() if re.match(r"\s*\d+│", row)]
    assert source_rows and all(cell_width(row) <= width for row in source_rows)
