"""SARIF against a schema of what may be written, closed to everything else; the schema is in `tests/data/sarif`."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from sample_report import make_report

from autohybrid.diagnostics.render import render
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads(
    (Path(__file__).resolve().parents[1] / "data" / "sarif" / "written-part.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def document(report: Report) -> Any:
    return json.loads(render("sarif", report, Style()))


@pytest.mark.parametrize("report", [make_report(), Report(())], ids=["full", "empty"])
def test_what_is_written_fits_the_schema(report: Report) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(document(report))] == []


def test_the_schema_refuses_what_the_standard_refuses() -> None:
    good = document(make_report())
    assert VALIDATOR.is_valid(good)
    for path, value in (
        (("version",), "2.0.0"),
        (("runs", 0, "columnKind"), "bytes"),
        (("runs", 0, "results", 0, "level"), "info"),
        (("runs", 0, "results", 0, "message"), "text"),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "region", "startLine"), 0),
        (("runs", 0, "results", 0, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "C:/x y"),
        (("runs", 0, "tool", "driver", "surprise"), 1),
    ):
        bad = deepcopy(good)
        place = bad
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert not VALIDATOR.is_valid(bad), path
