"""The answers of MXNet 1.9.1 that the tests of training compare with (see tests/data/training/record.py)."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "data" / "training"


@functools.cache
def facts() -> dict[str, Any]:
    """All recorded facts."""
    return json.loads((FOLDER / "facts.json").read_text())  # type: ignore[no-any-return]


def array(fact: dict[str, Any]) -> np.ndarray[Any, Any]:
    """A recorded array."""
    return np.array([float(v) for v in fact["values"]], fact["dtype"]).reshape(fact["shape"])


def label(fact: dict[str, Any]) -> str:
    """A short name for a test case."""
    return f"{fact['name']}-{fact.get('dtype', '')}-{fact['settings']}"
