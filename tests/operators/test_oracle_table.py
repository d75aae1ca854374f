"""The comparison with MXNet: its table of meant differences names operators that exist, and covers no other kind."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest

import autohybrid
from autohybrid.tensor.ops import operators
from tools.oracle.cases import make_cases
from tools.oracle.comparison import Known, differences, read_known
from tools.oracle.running import pack, run_case, unpack


@pytest.mark.parametrize("entry", read_known(), ids=lambda e: f"{e.operators[0]}-{e.kind}")
def test_every_entry_names_operators_that_exist(entry: Known) -> None:
    for pattern in entry.operators:
        assert any(fnmatchcase(name, pattern) for name in operators()), pattern


def test_an_entry_covers_its_kind_and_condition_only() -> None:
    entry = Known(("norm",), "outputs", "int32", "integers")
    assert entry.covers("norm", "outputs", "norm int32[3]")
    assert not entry.covers("norm", "gradients", "norm int32[3]")
    assert not entry.covers("norm", "outputs", "norm float32[3]")
    assert not entry.covers("normal", "outputs", "normal int32[3]")


def _result(**changed: Any) -> dict[str, Any]:
    return {"inference": {}, "outputs": [np.ones(3, "float32")], "gradients": [], **changed}


@pytest.mark.parametrize(
    "theirs, kind",
    [
        (_result(), None),
        (_result(outputs=[np.array([1, 1, 2], "float32")]), "outputs"),
        (_result(outputs=[np.ones(3, "float64")]), "form"),
        (_result(outputs=[]), "form"),
        (_result(gradients=[np.ones(3)]), "form"),
        (_result(gradient_error=("MXNetError", "")), "gradient refused by MXNet"),
        ({"inference": {}, "error": ("MXNetError", "")}, "refused by MXNet"),
        ({"died": True}, "MXNet dies"),
        ({"missing": True}, "missing in MXNet"),
    ],
)
def test_differences_are_told_apart(theirs: dict[str, Any], kind: str | None) -> None:
    assert [k for k, _ in differences(_result(), theirs)] == ([] if kind is None else [kind])


def test_inference_may_know_more_about_a_part_but_not_something_else() -> None:
    def asked(answer: Any) -> dict[str, Any]:
        return _result(inference={"shapes from the first input": answer})

    assert not list(differences(asked([[(2, 3)], [(2,)]]), asked([[(2, 3)], [None]])))
    assert [k for k, _ in differences(asked([[(2, 3)], [(2,)]]), asked([[(2, 3)], [(3,)]]))] == ["inference"]
    assert [k for k, _ in differences(asked([[(2, 3)], [None]]), asked([[(2, 3)], [(2,)]]))] == ["inference"]


def test_cases_are_the_same_for_one_seed_and_run_here_both_ways() -> None:
    cases = list(make_cases(4, "FullyConnected", 0))
    again = list(make_cases(4, "FullyConnected", 0))
    assert [pack(c) for c in cases] == [pack(c) for c in again]
    assert {c["mode"] for c in cases} == {"array", "symbol"}
    results = [run_case(autohybrid, unpack(pack(case))) for case in cases]
    assert not any("error" in result for result in results)
    assert any(result.get("gradients") for result in results)
