"""Records behave as frozen, slotted dataclasses do, apart from the refusal of assignments."""

from __future__ import annotations

from dataclasses import field, replace

import pytest

from autohybrid.analysis.values import Static, Tensor, Unknown
from autohybrid.records import record


@record
class Point:
    """Two numbers and a remark."""

    x: int
    y: int = 0
    remark: str = field(default="", compare=False)


def test_records_are_equal_and_hashed_by_their_fields() -> None:
    assert Point(1, 2) == Point(1, 2, "the same") != Point(1, 3)
    assert len({Point(1, 2), Point(1, 2, "the same"), Point(2, 2)}) == 2
    assert Static("int", 1) != Unknown("int")


def test_replace_and_patterns_work() -> None:
    assert replace(Point(1, 2), y=5) == Point(1, 5)
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_records_have_slots() -> None:
    with pytest.raises(AttributeError):
        object.__setattr__(Point(1), "z", 3)
    assert not hasattr(Tensor(), "__dict__")
