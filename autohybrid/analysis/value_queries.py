"""Questions about values: their truth, and what is inside them."""

from __future__ import annotations

from collections.abc import Iterator

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


def walk(value: Value, depth: int = 3) -> Iterator[Value]:
    """The value and what is inside its unions, sequences and maps, to a bounded depth."""
    yield value
    if depth == 0:
        return
    inner: tuple[Value, ...] = ()
    if isinstance(value, Union):
        inner = value.members
    elif isinstance(value, Seq):
        inner = value.items if value.items is not None else (value.element,)
    elif isinstance(value, Map):
        inner = (*(item for _, item in value.items), value.element)
    for member in inner:
        yield from walk(member, depth - 1)
