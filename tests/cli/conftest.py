"""`cli`: run a command in this process, in an empty folder. `fake_rules`: rules that find marks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cli_support import CODES, Cli, Outcome, fake_analyze, to_finding

from autohybrid import compat
from autohybrid.analysis.events import Event
from autohybrid.cli.main import main
from autohybrid.diagnostics import cold_run, engine
from autohybrid.diagnostics.model import Diagnostic
from autohybrid.diagnostics.rule import Rule
from autohybrid.diagnostics.rules import load_rules


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Runs `autohybrid ARGUMENTS` in `tmp_path`, without colours and with 80 columns."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "AUTOHYBRID_OUTPUT_FORMAT", "AUTOHYBRID_DEBUG", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, stdin: bytes | None = None) -> Outcome:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", _Stdin(stdin))
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield run
    compat.uninstall()  # some commands import the user's file under MXNet's name


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = self
        self._data = data

    def read(self) -> bytes:
        return self._data


@pytest.fixture
def fake_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts rules in place that find every name such as `badAH101` (suffix: `_likely`, `_possible`, `_info`, `_fix`)."""
    own = {rule.code: rule for rule in load_rules() if rule.code.startswith(("AH0", "AH9"))}
    rules = (*own.values(), *(Rule(code, name, name, (), lambda event: None) for code, name in CODES.items()))
    monkeypatch.setattr(engine, "get_codes", lambda: {rule.code: rule.name for rule in rules})
    monkeypatch.setattr(cold_run, "analyze", fake_analyze)
    real_judge = cold_run.judge

    def judge(events: Mapping[str, tuple[Event, ...]]) -> list[Diagnostic]:
        real = {path: tuple(e for e in found if not e.data) for path, found in events.items()}
        return [*real_judge(real), *(to_finding(e) for found in events.values() for e in found if e.data)]

    monkeypatch.setattr(cold_run, "judge", judge)
