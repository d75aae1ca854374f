"""Every recorded case gives what it gave on MXNet 1.9.1: values, gradients, names, reprs, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from record_cases import TOPICS
from recorded.outcomes import REFUSALS, difference, encoded

import autohybrid as mx

DATA = Path(__file__).resolve().parent.parent / "data" / "gluon"
WANTED = {topic: json.loads((DATA / f"{topic}.json").read_text()) for topic in TOPICS}
CASES = [(topic, name) for topic, cases in TOPICS.items() for name in cases]


@pytest.mark.parametrize(("topic", "name"), CASES, ids=[f"{topic}-{name}" for topic, name in CASES])
@pytest.mark.filterwarnings("ignore")
def test_case_gives_what_was_recorded(topic: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    want = WANTED[topic][name]
    run = TOPICS[topic][name]
    if "raises" in want:
        with pytest.raises(REFUSALS) as caught:
            run(mx)
        assert want["raises"] in [cls.__name__ for cls in type(caught.value).__mro__], caught.value
        return
    with mx.name.NameManager():  # counts from 0, as the process that recorded did
        result = encoded(run(mx))
    assert difference(want["value"], json_round_trip(result)) is None


def json_round_trip(value: Any) -> Any:
    """Tuples as lists and the like, as the recorded value has been through JSON too."""
    return json.loads(json.dumps(value))


def test_every_case_is_recorded() -> None:
    assert {topic: set(cases) for topic, cases in TOPICS.items()} == {t: set(w) for t, w in WANTED.items()}
