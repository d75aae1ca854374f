"""Questions about values: their truth, and what is inside them."""

from __future__ import annotations

from collections.abc import Iterable

from autohybrid.analysis.values import (
    ANY,
    ClassRef,
    Func,
    Instance,
    Layer,
    Map,
    ModuleRef,
    Namespace,
    Operator,
    Parameter,
    Seq,
    Static,
    Union,
    Value,
    members_of,
)

_HOLDERS = frozenset({Union, Seq, Map})


def truth_of(value: Value) -> bool | None:
    """The truth value where it is the same in every run."""
    answers = {_truth_of_one(member) for member in members_of(value)}
    return answers.pop() if len(answers) == 1 else None


def _truth_of_one(value: Value) -> bool | None:
    if isinstance(value, Static):
        if value.type == "none":
            return False
        return None if value.const is ANY else bool(value.const)
    if isinstance(value, Layer | Instance | Func | Namespace | Operator | ModuleRef | ClassRef | Parameter):
        return True
    return None


def inside(values: Iterable[Value], depth: int) -> list[Value]:
    """The values and what is inside their unions, sequences and maps, to a bounded depth; each before its parts."""
    found: list[Value] = []
    for value in values:
        found.append(value)
        if depth and value.__class__ in _HOLDERS:
            found.extend(inside(_held(value), depth - 1))
    return found


def _held(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Union):
        return value.members
    if isinstance(value, Seq):
        return value.items if value.items is not None else (value.element,)
    return (*(item for _, item in value.items), value.element) if isinstance(value, Map) else ()


def walk(value: Value, depth: int = 3) -> list[Value]:
    """The value and what is inside it, to a bounded depth."""
    return inside((value,), depth)
