"""The cases of every rule against MXNet 1.9.1 itself, where an interpreter that has it is named.

AUTOHYBRID_MXNET_PYTHON=/path/to/python pytest tests/rules/test_against_mxnet.py
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from autohybrid.diagnostics.rules import find_rule

PYTHON = os.environ.get("AUTOHYBRID_MXNET_PYTHON")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="AUTOHYBRID_MXNET_PYTHON names no interpreter with mxnet 1.9.1")
def test_cases_do_in_mxnet_what_they_say() -> None:
    assert PYTHON is not None
    environment = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    script = ROOT / "tests" / "rules" / "mxnet_cases.py"
    run = subprocess.run(
        [PYTHON, str(script)], capture_output=True, text=True, env=environment, check=True, timeout=300
    )
    outcomes = json.loads(run.stdout.strip().split("\n")[-1])
    assert len(outcomes) > 300
    wrong = [outcome for outcome in outcomes if not agrees(outcome)]
    assert wrong == []


def agrees(outcome: dict[str, object]) -> bool:
    """A valid case never raises; an invalid one does unless it says that the difference is silent,
    and its fix gives what the imperative block gave."""
    rule = find_rule(str(outcome["code"]))
    assert rule is not None
    raised = {mode for mode in ("load", "imperative", "hybridized", "recorded") if mode in outcome}
    if outcome["kind"] == "valid":
        return not raised
    if outcome.get("fixed"):
        return False
    case = rule.invalid[int(str(outcome["number"]))]
    return bool(raised) if case.raises else not raised - {"recorded"}
