"""Branches on tensors: both sides are built, what they make of the variables is merged, one runs at each call."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.builder import Builder, user_span
from autohybrid.graph.control import Assert, Raise, make_branch, make_effect
from autohybrid.graph.graph_tensor import GraphTensor, Storage
from autohybrid.graph.node import Head, Node
from autohybrid.graph.subgraph import Subgraph
from autohybrid.tensor.tape import state
from autohybrid.transform.merge import Merge


@dataclass
class Side:
    """What building one side gave: its result, memory it wrote, nodes with effects, or the exception it ended in."""

    result: Any
    writes: dict[int, tuple[Storage, Head]]
    effects: list[Head]
    error: BaseException | None
    first_order: int


def build_branch(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Stage `if test` with the results of both sides merged. Raises HybridizeError where they cannot be one value."""
    builder: Builder = state.builder
    condition = builder.lift(test)
    _require_one_element(condition)
    sides = [build_side(builder, side, values) for side in (then, otherwise)]
    if sides[0].error is not None and sides[1].error is not None:
        raise sides[0].error
    for failed, other in (sides, sides[::-1]):
        if failed.error is not None:
            failed.effects.append(_raising(builder, failed.error))
            failed.result, failed.writes = other.result, {}
    merge = Merge(builder)
    skeleton = merge.add(sides[0].result, sides[1].result, "the result")
    if any(s.error is not None for s in sides):
        merge = Merge(builder)
        skeleton = _one_sided(merge, sides)
    stores = _merged_writes(builder, merge, sides)
    heads = _node(builder, condition, merge, sides)
    for storage, position in stores:
        builder.note_write(storage)
        storage.write(heads[position])
    return merge.rebuild(skeleton, heads)


def build_side(builder: Builder, function: Callable[..., Any], values: Sequence[Any]) -> Side:
    """Build one side on copies of the containers in `values`; memory is put back as it was afterwards."""
    mark = Node(None, None, (), "").order
    result, caught = None, _Caught()
    with _isolated(builder, mark) as writes:
        with caught:
            result = function(*[own_copy(v) for v in values])
        effects = list(builder.effects)
    return Side(result, writes, effects, caught.error, mark)


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
def _isolated(builder: Builder, mark: int) -> Iterator[dict[int, tuple[Storage, Head]]]:
    """Collect writes and effects of the code inside, then undo the writes."""
    outer_log, outer_effects = builder.write_log, builder.effects
    builder.write_log, builder.effects = {}, []
    writes: dict[int, tuple[Storage, Head]] = {}
    try:
        yield writes
    finally:
        for key, (storage, before) in builder.write_log.items():
            if before[0].op is None or before[0].order < mark:
                writes[key] = (storage, storage.head)
                storage.write(before)
        builder.write_log, builder.effects = outer_log, outer_effects


def own_copy(value: Any) -> Any:
    """Containers are copied, so that one side's `append` does not show on the other; everything else is shared."""
    if type(value) in (list, dict):
        return copy.copy(value)
    return value


def _one_sided(merge: Merge, sides: Sequence[Side]) -> Any:
    good = next(s for s in sides if s.error is None)
    return merge.add(good.result, good.result, "the result")


def _merged_writes(builder: Builder, merge: Merge, sides: Sequence[Side]) -> list[tuple[Storage, int]]:
    stores = []
    for key in {**sides[0].writes, **sides[1].writes}:
        storage = (sides[0].writes.get(key) or sides[1].writes[key])[0]
        heads = [s.writes[key][1] if key in s.writes else storage.head for s in sides]
        fact = builder.facts[heads[0]]
        assert fact.shape is not None and fact.dtype is not None
        merge.pairs.append((heads[0], heads[1]))
        merge.facts.append((fact.shape, fact.dtype))
        stores.append((storage, len(merge.pairs) - 1))
    return stores


def _node(builder: Builder, condition: GraphTensor, merge: Merge, sides: Sequence[Side]) -> list[Head]:
    effects = bool(sides[0].effects or sides[1].effects)
    if effects and not merge.pairs:  # a node needs an output to be run for
        fact = builder.facts[condition.head]
        merge.pairs.append((condition.head, condition.head))
        merge.facts.append((fact.shape or (1,), fact.dtype or "float32"))
    then, otherwise = (
        Subgraph([pair[i] for pair in merge.pairs], side.effects, side.first_order) for i, side in enumerate(sides)
    )
    node = make_branch(condition.head, then, otherwise, merge.facts, builder.fresh_name("branch"), user_span())
    flows = state.recording and any(builder.facts[h].differentiable for h in node.inputs)
    builder.register(node, merge.facts, flows)
    if effects:
        builder.effects.append((node, 0))
    return [(node, i) for i in range(len(merge.pairs))]


def _raising(builder: Builder, error: BaseException) -> Head:
    node = make_effect((), Raise(error), [((1,), "float32")], builder.fresh_name("raise"), user_span())
    builder.register(node, [((1,), "float32")], False)
    return (node, 0)


def build_check(test: Any, message: Callable[[], Any]) -> None:
    """Stage `assert test, message()`."""
    builder: Builder = state.builder
    condition = builder.lift(test)
    _require_one_element(condition)
    text = message()
    fact = builder.facts[condition.head]
    facts = [(fact.shape or (1,), fact.dtype or "float32")]
    node = make_effect([condition.head], Assert(text), facts, builder.fresh_name("assert"), user_span())
    builder.register(node, facts, False)
    builder.effects.append((node, 0))


def _require_one_element(condition: GraphTensor) -> None:
    shape = condition.known_shape()
    if shape is not None and -1 not in shape:
        size = 1
        for extent in shape:
            size *= extent
        if size > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
