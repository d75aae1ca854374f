"""Where the formats of other tools say that a finding in a notebook is: its cell in words, the file's first line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autohybrid.diagnostics.engine import check
from autohybrid.diagnostics.render import render
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report

SOURCE = """import mxnet as mx
class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        !ls
        return F.relu(x)[1:]
"""


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# title"},
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": SOURCE},
    ]
    (tmp_path / "net.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    monkeypatch.chdir(tmp_path)
    return check("net.ipynb")


def test_github_names_the_cell(report: Report) -> None:
    text = render("github", report, Style())
    assert "file=net.ipynb,line=1,col=1," in text
    assert "::net.ipynb:cell 2:5:16: AH104 " in text


def test_gitlab_names_the_cell(report: Report) -> None:
    (row,) = json.loads(render("gitlab", report, Style()))
    assert row["location"]["lines"] == {"begin": 1, "end": 1}
    assert row["description"].startswith("AH104: cell 2:5:16: `F.relu(x)[1:]`")


def test_sarif_names_the_cell(report: Report) -> None:
    (result,) = json.loads(render("sarif", report, Style()))["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["snippet"]["text"]) == (1, "        return F.relu(x)[1:]")
    assert (result["properties"]["cell"], result["properties"]["cellLine"]) == (2, 5)
    assert {place["physicalLocation"]["region"]["startLine"] for place in result["relatedLocations"]} == {1}
    assert "fixes" not in result


def test_people_see_the_cell_as_they_wrote_it(report: Report) -> None:
    text = render("full", report, Style())
    assert "net.ipynb cell 2:5:16 in Net.hybrid_forward" in text
    assert "4│         !ls\n" in text
