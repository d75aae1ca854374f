"""The generated pages of `docs/` are what the records and the rules say today, and no page is left over."""

from __future__ import annotations

import pytest

from tools.generate_docs import DOCS, main, pages


def test_pages_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_a_changed_page_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    changed = {**pages(), "operators.md": "nothing"}
    monkeypatch.setattr("tools.generate_docs.pages", lambda: changed)
    assert main(["--check"]) == 1
    assert "operators.md" in capsys.readouterr().err
    assert (DOCS / "operators.md").read_text(encoding="utf-8") != "nothing"
