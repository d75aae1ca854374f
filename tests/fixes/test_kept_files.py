"""Fixes in every place that shows them: the Python API as the terminal, and a file that is kept between two calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import autohybrid
from autohybrid.cli.main import main
from autohybrid.diagnostics.engine import Request, run
from autohybrid.transform.fixes import complete
from autohybrid.transform.fixes.site import ParsedFiles

NET = """from mxnet.gluon import nn


class Inner(nn.HybridBlock):
    def hybrid_forward(self, F, x):
        return x.reshape((x.shape[0], -1))


class Net(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.inner = Inner()

    def hybrid_forward(self, F, x):
        if x.sum() > 0:
            return x + 1
        return self.inner(x)
"""


def test_the_python_api_shows_the_fixes_of_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    report = autohybrid.check(path)
    main(["check", "--output-format", "json", str(path)])
    shown = json.loads(capsys.readouterr().out)
    ours = [[fix.message for fix in finding.fixes] for finding in report]
    plain = [[fix.message for fix in finding.fixes] for finding in run(Request((str(path),)))]
    assert str(ours) != str(plain) and len(shown) == len(ours)
    for finding, messages in zip(shown, ours):
        assert all(message in json.dumps(finding) for message in messages)


def test_a_kept_file_gives_the_same_fixes_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    findings = list(run(Request((str(path),))))
    alone = [complete([finding], lambda _: NET)[0] for finding in findings]
    for order in (1, -1):
        files = ParsedFiles()
        kept = [complete([finding], lambda _: NET, files)[0] for finding in findings[::order]]
        assert kept[::order] == alone
    assert any(found.fixes for found in alone)


def test_files_are_kept_until_their_text_changes_or_others_come() -> None:
    files = ParsedFiles(limit=2)
    first = files.get("a.py", "x = 1\n")
    assert files.get("a.py", "x = 1\n") is first
    changed = files.get("a.py", "x = 2\n")
    assert changed is not first
    files.get("b.py", "")
    files.get("c.py", "")
    assert files.get("a.py", "x = 2\n") is not changed
    assert files.get("d.py", "x = (") is None
