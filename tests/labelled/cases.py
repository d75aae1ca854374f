"""The labelled cases: small files whose behaviour under MXNet 1.9.1 was measured, each defective one with a fixed twin.

`labels.json` gives for each file its label (clean, error: MXNet raises once hybridized, silent: MXNet differs without a
word), the lines at fault, and lines on which advice is welcome.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "data" / "labelled"


@dataclass(frozen=True)
class Case:
    """One labelled file. `defects` are (line, kind)."""

    id: str
    kind: str
    path: Path
    fixed: Path | None
    label: str
    defects: tuple[tuple[int, str], ...]
    advice: tuple[int, ...]


def load_cases() -> list[Case]:
    """Every case, in the order of the file."""
    records = json.loads((ROOT / "labels.json").read_text())
    return [
        Case(
            r["id"],
            r["kind"],
            ROOT / r["file"],
            ROOT / r["fixed"] if r["fixed"] and (ROOT / r["fixed"]).exists() else None,
            r["label"],
            tuple((line, kind) for line, kind in r["defects"]),
            tuple(r["advice"]),
        )
        for r in records
    ]
