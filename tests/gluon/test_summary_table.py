"""`summary` is a rich table on a terminal, and MXNet's plain one elsewhere."""

from __future__ import annotations

import sys

import pytest

from autohybrid import nd
from autohybrid.gluon import nn


@pytest.mark.parametrize("terminal", [False, True])
def test_summary_counts_parameters(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(10))
    net.initialize()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    net.summary(nd.ones((2, 8)))
    shown = capsys.readouterr().out
    assert ("2,570" if terminal else "2570") in shown
    assert ("│" in shown) == terminal
    assert "4,874" in shown or "4874" in shown
