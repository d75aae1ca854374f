"""One side of a branch, or the body of a loop, built apart: what it gave, and what it did to memory and attributes.

Everything that a side changes is put back as it was, for the other side must find it unchanged. What cannot be put back
and merged - a list that code outside the branch knows too - is refused.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.builder import ABSENT, Builder
from autohybrid.graph.graph_tensor import Storage
from autohybrid.graph.node import Head, Node
from autohybrid.transform.reachable import Reachable


@dataclass
class Changes:
    """What the code of a side did: memory it wrote, attributes of blocks it set, nodes with effects it made."""

    writes: dict[int, tuple[Storage, Head]] = field(default_factory=dict)
    attributes: dict[tuple[int, str], tuple[Any, str, Any]] = field(default_factory=dict)
    effects: list[Head] = field(default_factory=list)


@dataclass
class Side:
    """What building one side gave: its result and changes, or the exception it ended in."""

    result: Any
    changes: Changes
    error: BaseException | None
    first_order: int
    given: tuple[Any, ...]


def build_side(builder: Builder, function: Callable[..., Any], values: Sequence[Any]) -> Side:
    """Build one side on copies of the containers in `values`; what it changes is put back afterwards.

    Raises HybridizeError when it changes a container that is known outside the side.
    """
    mark = Node(None, None, (), "").order
    result, caught = None, _Caught()
    given = [own_copy(v) for v in values]
    outside = Reachable(function, given)
    with _isolated(builder, mark) as changes:
        with caught:
            result = function(*given)
        changes.effects = list(builder.effects)
    if outside.has_rebound():
        raise builder.refusal(
            "code that only runs when a tensor says so assigns a variable of an enclosing function (`nonlocal`); "
            "return the value instead"
        )
    changed = outside.find_changed()
    if changed is not None:
        raise builder.refusal(
            f"code that only runs when a tensor says so changes a {type(changed).__name__} that other code sees too; "
            "assign its name there (`rows = rows + [x]`), or return the value"
        )
    return Side(result, changes, caught.error, mark, tuple(given))


class _Caught:
    """Keeps an exception of the user's code: it is to be raised when this side runs, not when it is built.

    What the builder itself raises passes on: that is about the graph.
    """

    error: BaseException | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not isinstance(error, Exception) or isinstance(error, (MXNetError, UnboundLocalError)):
            return False
        self.error = error
        return True


@contextlib.contextmanager
def _isolated(builder: Builder, mark: int) -> Iterator[Changes]:
    """Collect what the code inside changes, then undo it."""
    outer = builder.write_log, builder.attribute_log, builder.effects
    builder.write_log, builder.attribute_log, builder.effects = {}, {}, []
    changes = Changes()
    try:
        yield changes
    finally:
        for key, (storage, before) in builder.write_log.items():
            if before[0].op is None or before[0].order < mark:
                changes.writes[key] = (storage, storage.head)
                storage.write(before)
        for name_key, (block, name, value) in builder.attribute_log.items():
            changes.attributes[name_key] = (block, name, block.__dict__.get(name, ABSENT))
            if value is ABSENT:
                block.__dict__.pop(name, None)
            else:
                block.__dict__[name] = value
        builder.write_log, builder.attribute_log, builder.effects = outer


def own_copy(value: Any) -> Any:
    """Containers are copied, so that one side's `append` does not show on the other; everything else is shared."""
    if type(value) in (list, dict):
        return copy.copy(value)
    return value
