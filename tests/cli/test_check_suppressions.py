"""Suppression comments: what each form covers, and what is said about those that are unused or wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Cli

pytestmark = pytest.mark.usefixtures("fake_rules")


def rows(cli: Cli, tmp_path: Path, text: str, *flags: str) -> list[tuple[str, int]]:
    (tmp_path / "a.py").write_text(text)
    found = json.loads(cli("check", "a.py", "--output-format", "json", *flags).out)
    return [(item["code"], item["location"]["row"]) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "badAH101  # noqa\n",
        "badAH101  # noqa: AH101\n",
        "badAH101  # NOQA:AH101\n",
        "badAH101  # noqa: E501, AH101\n",
        "badAH101  # noqa: E501 AH1\n",
        "badAH101  # see below  # noqa: AH101\n",
        "badAH101  # autohybrid: ignore[AH101]\n",
        "badAH101  # autohybrid:ignore[AH1] it is only ever imperative\n",
        "badAH101  # autohybrid: ignore[tensor-shape]\n",
        "badAH101, badAH102  # autohybrid: ignore[AH101, AH102]\n",
        "badAH101  # autohybrid: ignore\n",
        "# autohybrid: ignore[AH101] the next line\nbadAH101\n",
        "x = (\n    badAH101,\n)  # autohybrid: ignore[AH101]\n",
        "x = (  # autohybrid: ignore[AH101]\n    1,\n    badAH101,\n)\n",
        "x = (\n    badAH101,  # autohybrid: ignore[AH101]\n)\n",
        "if (1 and\n        badAH101):  # noqa: AH101\n    pass\n",
        "x = 1\n# autohybrid: file-ignore[AH101]\nbadAH101\nbadAH101\n",
        "# autohybrid: file-ignore\nbadAH101\n",
        "# autohybrid: off\nbadAH101\nbadAH102\n# autohybrid: on\n",
        "# autohybrid: off[AH1]\nbadAH101\n",
        "# autohybrid: off\rx = 1\rbadAH101\r",
    ],
)
def test_covered_findings_are_silent(cli: Cli, tmp_path: Path, text: str) -> None:
    assert rows(cli, tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("badAH101  # noqa: E501\n", [("AH101", 1)]),
        ("badAH101  # noqa:E501,W291\n", [("AH101", 1)]),
        ("x = '# noqa'; badAH101\n", [("AH101", 1)]),
        ("x = 1  # noqa\nbadAH101\n", [("AH101", 2)]),
        ("x = (  \n    1,  # autohybrid: ignore[AH1]\n    badAH101,\n)\n", [("AH101", 3), ("AH900", 2)]),
        ("if x:  # autohybrid: ignore[AH101]\n    badAH101\n", [("AH101", 2), ("AH900", 1)]),
        ("badAH101  # lint-ignore: AH101\n", [("AH101", 1)]),
        ("# autohybrid: off\nbadAH101\n# autohybrid: on\nbadAH101\n", [("AH101", 4)]),
    ],
)
def test_uncovered_findings_are_reported(cli: Cli, tmp_path: Path, text: str, expected: list[tuple[str, int]]) -> None:
    assert sorted(rows(cli, tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # autohybrid: ignore[AH101] why\n", "x = 1\n"),
        ("x = 1  # noqa: AH101\n", "x = 1\n"),
        ("x = 1  # noqa: E501, AH101\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: AH101, E501\n", "x = 1  # noqa: E501\n"),
        ("badAH101  # noqa: AH101,AH102\n", "badAH101  # noqa: AH101\n"),
        ("badAH101  # autohybrid: ignore[AH102, AH101] why\n", "badAH101  # autohybrid: ignore[AH101] why\n"),
        ("x = 1  # autohybrid: ignore[AH101]  # keep\n", "x = 1  # keep\n"),
        ("# autohybrid: file-ignore[AH3]\nx = 1\n", "x = 1\n"),
        ("# autohybrid: off\nx = 1\n# autohybrid: on\n", "x = 1\n# autohybrid: on\n"),
    ],
)
def test_an_unused_suppression_comes_with_the_edit_that_removes_it(
    cli: Cli, tmp_path: Path, before: str, after: str
) -> None:
    (tmp_path / "a.py").write_text(before)
    found = json.loads(cli("check", "a.py", "--output-format", "json").out)
    assert [item["code"] for item in found] == ["AH900"]
    assert found[0]["fix"]["applicability"] == "safe"
    (edit,) = found[0]["fix"]["edits"]
    lines = before.splitlines(keepends=True)
    start = sum(map(len, lines[: edit["location"]["row"] - 1])) + edit["location"]["column"] - 1
    end = sum(map(len, lines[: edit["end_location"]["row"] - 1])) + edit["end_location"]["column"] - 1
    assert before[:start] + edit["content"] + before[end:] == after


def test_a_suppression_of_a_rule_that_does_not_run_is_not_unused(cli: Cli, tmp_path: Path) -> None:
    assert rows(cli, tmp_path, "x = 1  # noqa: AH301\n", "--ignore", "AH3") == []
    assert rows(cli, tmp_path, "x = 1  # noqa: AH301\n", "--per-file-ignores", "a.py:AH3") == []


def test_a_blanket_comment_is_named_when_it_hides_something_of_ours(cli: Cli, tmp_path: Path) -> None:
    text = "import os  # noqa\nbadAH101  # noqa\n"
    assert rows(cli, tmp_path, text) == []
    assert rows(cli, tmp_path, text, "--pedantic") == [("AH901", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "badAH101  # autohybrid: ignroe[AH101]\n",
            "`ignroe` is no suppression that autohybrid knows; did you mean `ignore`?",
        ),
        ("badAH101  # autohybrid: ignore[AH777]\n", "`AH777` is no rule"),
        ("badAH101  # autohybrid: ignore[tensor-shap]\n", "`tensor-shap` is no rule; did you mean `tensor-shape`?"),
    ],
)
def test_an_invalid_suppression_is_explained(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.py").write_text(text)
    found = json.loads(cli("check", "a.py", "--output-format", "json").out)
    assert [item["code"] for item in found] == ["AH101", "AH902"]
    assert message in found[1]["message"]


def test_the_reason_is_kept(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("badAH101  # autohybrid: ignore[AH101]: only imperative\nbadAH102  # noqa\n")
    found = json.loads(cli("check", "a.py", "--output-format", "json", "--show-suppressed").out)
    assert [(item["code"], item["suppressed"], item["justification"]) for item in found] == [
        ("AH101", True, "only imperative"),
        ("AH102", True, ""),
    ]


def test_comments_of_a_file_that_does_not_parse_still_count(cli: Cli, tmp_path: Path) -> None:
    assert rows(cli, tmp_path, "badAH101  # noqa: AH101\nx = (\n") == []


def test_comments_in_a_notebook_count(cli: Cli, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": "badAH101  # noqa: AH101\nbadAH102"}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    found = json.loads(cli("check", ".", "--output-format", "json").out)
    assert [(item["code"], item["cell"], item["location"]["row"]) for item in found] == [("AH102", 1, 2)]
