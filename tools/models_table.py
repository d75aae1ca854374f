"""Write docs/models.md: which published models run, as a replay of them found out.

    python -m tools.models_table RECORDS.json

RECORDS.json is what a replay measured: a list of objects with `name` (`package/model`), `package`, `parameters` (their
number), `eager` and `hybrid` (null when the results agree with MXNet's, else what is different), `mxnet_hybrid`
(whether MXNet could hybridize the model), and `seconds` and `recorded_seconds` (a call here and under MXNet).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parents[1] / "docs" / "models.md"
_INTRODUCTION = """# Models

Published Gluon models, run from their own unmodified packages under `autohybrid.compat.install()`, without MXNet and
with a current NumPy. Every model is filled with the same weights as under MXNet 1.9.1, and its outputs are compared
with what MXNet computed.

This page is written by `python -m tools.models_table`.

- *imperative*, *hybridized*: the outputs agree with MXNet's. Where MXNet cannot hybridize the model, the hybridized
  outputs are compared with the imperative ones, and the mark is *yes (not in MXNet)*.
- *time*: the processor time of a hybridized call over that of the same call in MXNet 1.9.1 on the same machine: one
  thread each, MXNet's work in the calling thread (`MXNET_ENGINE_TYPE=NaiveEngine`), the best of 3 to 40 calls after two
  to warm up, outputs taken to NumPy included. Below 1 is faster than MXNet; it is empty where it was not measured.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; the exit code is 2 when the records cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("records", type=Path, metavar="RECORDS.json", help="what the replay measured")
    parser.add_argument("--out", type=Path, default=TARGET, help="the page to write (docs/models.md)")
    options = parser.parse_args(arguments)
    try:
        page = make_page(json.loads(options.records.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"{options.records}: {type(error).__name__}: {error}\n")
        return 2
    options.out.write_text(page, encoding="utf-8")
    return 0


def make_page(records: Sequence[Mapping[str, Any]]) -> str:
    """The page. Raises ValueError for a model that occurs twice, KeyError for a record that lacks a field."""
    twice = [name for name, count in Counter(record["name"] for record in records).items() if count > 1]
    if twice:
        raise ValueError(f"more than one record of {', '.join(twice)}")
    rows = [_row(record) for record in sorted(records, key=lambda record: (record["package"], record["name"]))]
    table = ["| model | package | parameters | imperative | hybridized | time |", "|---|---|---:|---|---|---:|", *rows]
    return "\n".join([_INTRODUCTION, _totals(records), "", *table, ""])


def _totals(records: Sequence[Mapping[str, Any]]) -> str:
    eager = sum(record["eager"] is None for record in records)
    hybrid = sum(record["hybrid"] is None for record in records)
    ratios = [ratio for record in records if (ratio := _ratio(record)) is not None]
    median = f" Median of the {len(ratios)} times: {statistics.median(ratios):.2f}." if ratios else ""
    return f"{len(records)} models; {eager} agree imperatively, {hybrid} hybridized.{median}"


def _row(record: Mapping[str, Any]) -> str:
    ratio = _ratio(record)
    hybrid = _mark(record["hybrid"])
    if hybrid == "yes" and not record["mxnet_hybrid"]:
        hybrid = "yes (not in MXNet)"
    cells = (
        record["name"].partition("/")[2],
        record["package"],
        f"{record['parameters'] / 1e6:.2f} M",
        _mark(record["eager"]),
        hybrid,
        "" if ratio is None else f"{ratio:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def _mark(difference: str | None) -> str:
    return "yes" if difference is None else f"no: {difference}".replace("|", "\\|").replace("\n", " ")


def _ratio(record: Mapping[str, Any]) -> float | None:
    if not record.get("seconds") or not record.get("recorded_seconds"):
        return None
    return float(record["seconds"] / record["recorded_seconds"])


if __name__ == "__main__":
    sys.exit(main())
