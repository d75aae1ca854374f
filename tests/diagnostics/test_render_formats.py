"""What consumers of the machine formats rely on, and what hostile text must not do to any format."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from sample_report import CONDITION, SHAPE, make_report, span

from autohybrid.diagnostics.model import Diagnostic, Label
from autohybrid.diagnostics.render import MODULES, render
from autohybrid.diagnostics.render.github import to_step_summary
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.sources import Sources

HOSTILE = "a\x1b[31m<b>&\"'\x00\ud800 %0A|\r\n::error::x]]>\u202e"


def hostile_report() -> Report:
    finding = replace(
        CONDITION,
        message=HOSTILE,
        help=HOSTILE,
        span=span(1, 1, 3, path="we ird,:%.py"),
        labels=(Label(span(1, 1, 2, path="we ird,:%.py"), HOSTILE),),
    )
    return Report((finding,), files=1, sources=Sources(texts={"we ird,:%.py": HOSTILE}))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_hostile_text_is_rendered_without_control_characters(name: str) -> None:
    text = render(name, hostile_report(), Style())
    assert "\x1b" not in text and "\x00" not in text


def test_html_escapes_everything() -> None:
    page = render("html", hostile_report(), Style())
    assert "<b>" not in page and "&lt;b&gt;" in page
    assert "<script" not in page and "http" not in page


def test_github_commands_stay_on_one_line_each() -> None:
    (line,) = render("github", hostile_report(), Style()).splitlines()
    assert line.startswith("::error title=autohybrid (AH401),file=we ird%2C%3A%25.py,line=1,col=1,")
    assert "%0D%0A%3A%3A" not in line.split("::", 2)[1]
    assert "|" not in to_step_summary(hostile_report()).split("| error |")[1].split("\n")[0].replace("\\|", "").rstrip(
        " |"
    )


def test_junit_is_xml_with_one_case_a_finding() -> None:
    for report in (make_report(), hostile_report(), Report(())):
        root = ET.fromstring(render("junit", report, Style()).encode())
        assert int(root.get("failures", "")) == len(report) == len(root.findall(".//failure"))
        assert int(root.get("tests", "")) == max(1, len(report))


def test_gitlab_fingerprints_are_unique_and_survive_moves() -> None:
    twice = replace(SHAPE, span=span(10, 14, 20))
    texts = {"src/net.py": "\n" * 9 + "        n = x.shape[0]\n" * 2}
    report = Report((SHAPE, twice), sources=Sources(texts=texts))
    first = [row["fingerprint"] for row in json.loads(render("gitlab", report, Style()))]
    moved = Report((replace(SHAPE, span=span(11, 13, 20)),), sources=Sources(texts=texts))
    (again,) = [row["fingerprint"] for row in json.loads(render("gitlab", moved, Style()))]
    assert len(set(first)) == 2
    assert again == first[0]


def test_json_has_the_documented_fields() -> None:
    rows = json.loads(render("json", make_report(), Style(show_suppressed=True)))
    assert len(rows) == 7
    assert list(rows[1]) == [
        "schema", "code", "name", "severity", "confidence", "message", "help", "filename", "cell", "location",
        "end_location", "block", "method", "provenance", "fix", "suppressed", "justification", "url", "noqa_row",
    ]  # fmt: skip
    shape = next(row for row in rows if row["code"] == "AH101")
    assert Path(shape["filename"]).is_absolute()
    assert (shape["location"], shape["end_location"]) == ({"row": 10, "column": 13}, {"row": 10, "column": 20})
    assert shape["fix"]["applicability"] == "unsafe"
    assert shape["provenance"][0]["location"] == {"row": 6, "column": 33}
    assert [row["code"] for row in rows if row["suppressed"]] == ["AH105"]
    lines = render("json-lines", make_report(), Style(show_suppressed=True)).splitlines()
    assert [json.loads(line) for line in lines] == rows


def test_sarif_holds_trail_fixes_and_suppressions() -> None:
    (run,) = json.loads(render("sarif", make_report(), Style()))["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    assert len(results["AH401"]["relatedLocations"]) == 2
    assert results["AH105"]["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "checked by hand"}
    ]
    (replacement,) = results["AH102"]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == 'F.slice(x, "é")'
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert uris == {"src/net.py", "src/helpers.py"}
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    for result in run["results"]:
        if "ruleIndex" in result:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_report_is_a_sequence_that_shows_itself() -> None:
    report = make_report()
    assert next(iter(report)).code == report[0].code == "AH103"
    assert report[:2] == (report[0], report[1])
    assert report == list(report) and bool(report) and not Report(())
    assert "╭─ src/net.py:8:12" in str(report)
    assert report.__rich__().plain == str(report)
    assert report._repr_html_().count("<pre>") == len(report)
    assert isinstance(report[0], Diagnostic)


def test_ten_thousand_findings_are_rendered_quickly() -> None:
    import time

    report = make_report()
    many = Report(tuple(report) * 1667, files=3, sources=report.sources)
    limits = {"concise": 0.6, "json": 3.0, "full": 6.0}
    for name, limit in limits.items():
        started = time.process_time()
        render(name, many, Style(colour=True))
        assert time.process_time() - started < limit, name


def test_a_step_of_the_trail_at_the_finding_itself_stands_behind_its_mark() -> None:
    finding = replace(CONDITION, labels=(Label(CONDITION.span, "a tensor"),))
    text = render("full", replace(make_report(), findings=(finding,)), Style())
    assert "━ a tensor\n" in text and "─ a tensor" not in text
