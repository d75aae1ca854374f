"""The page of models says what the records say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.models_table import main, make_page

RECORD = {
    "name": "zoo/net",
    "package": "zoo",
    "parameters": 1_250_000,
    "eager": None,
    "hybrid": None,
    "mxnet_hybrid": True,
    "seconds": 0.3,
    "recorded_seconds": 0.2,
}


def test_a_row_for_each_model() -> None:
    refused = RECORD | {"name": "zoo/other", "mxnet_hybrid": False, "recorded_seconds": None}
    broken = RECORD | {
        "name": "a/broken",
        "package": "a",
        "eager": "raises | this",
        "hybrid": "not run",
        "seconds": None,
    }
    page = make_page([RECORD, refused, broken])
    assert "3 models; 2 agree imperatively, 2 hybridized. Median of the 1 times: 1.50." in page
    assert page.endswith(
        "| broken | a | 1.25 M | no: raises \\| this | no: not run |  |\n"
        "| net | zoo | 1.25 M | yes | yes | 1.50 |\n"
        "| other | zoo | 1.25 M | yes | yes (not in MXNet) |  |\n"
    )


def test_records_that_cannot_be_used_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records, page = tmp_path / "records.json", tmp_path / "page.md"
    for text in ("{", "[{}]", json.dumps([RECORD, RECORD])):
        records.write_text(text)
        assert main([str(records), "--out", str(page)]) == 2
    assert "more than one record of zoo/net" in capsys.readouterr().err
    assert not page.exists()
    records.write_text(json.dumps([RECORD]))
    assert main([str(records), "--out", str(page)]) == 0
    assert page.read_text().startswith("# Models\n")
