"""mx.profiler times what the code marks; mx.engine keeps its size."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import autohybrid as mx
from autohybrid import profiler


@pytest.fixture(autouse=True)
def recording(tmp_path: Path) -> Iterator[None]:
    profiler.set_config(filename=str(tmp_path / "trace.json"), profile_all=True)
    with pytest.warns(RuntimeWarning, match="no operators"):
        profiler.set_state("run")
    yield
    profiler.set_state("stop")
    profiler.dumps(reset=True)


def test_times_are_those_of_the_work(tmp_path: Path) -> None:
    domain = profiler.Domain("training")
    with domain.new_task("slow"):
        time.sleep(0.02)
    for _ in range(2):
        with profiler.Event("quick"):
            pass
    rows = {row["name"]: row for row in json.loads(profiler.dumps(format="json"))["Time"]}
    assert list(rows) == ["slow", "quick"]
    assert 20 <= rows["slow"]["total"] < 2000
    assert (rows["quick"]["count"], rows["slow"]["count"]) == (2, 1)
    assert profiler.dumps().splitlines()[1].startswith("slow")
    counter = domain.new_counter("loss", 3)
    counter -= 1
    domain.new_marker("here").mark()
    profiler.dump()
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["ph"] for event in events] == ["X", "X", "X", "C", "C", "i"]
    assert events[4]["args"] == {"loss": 2}


def test_nothing_is_recorded_while_paused() -> None:
    profiler.pause()
    with profiler.Event("unseen"):
        pass
    profiler.resume()
    with profiler.Event("seen"):
        pass
    assert [row["name"] for row in json.loads(profiler.dumps(format="json"))["Time"]] == ["seen"]


def test_wrong_words_are_refused() -> None:
    with pytest.raises(ValueError, match="no option filname"):
        profiler.set_config(filname="x")
    with pytest.raises(ValueError, match="'go'"):
        profiler.set_state("go")
    with pytest.raises(ValueError, match="no order 'name'"):
        profiler.dumps(sort_by="name")


def test_the_size_of_bulks_is_kept() -> None:
    assert mx.engine.set_bulk_size(10) == 0
    with mx.engine.bulk(3):
        assert mx.engine.set_bulk_size(4) == 3
    assert mx.engine.set_bulk_size(0) == 10
