"""Branches on tensors: both sides are built, what they make of the variables is merged, one runs at each call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.graph.builder import ABSENT, Builder, user_span
from autohybrid.graph.control import Assert, Raise, make_branch, make_effect
from autohybrid.graph.graph_tensor import GraphTensor, Storage
from autohybrid.graph.node import Head
from autohybrid.graph.subgraph import Subgraph
from autohybrid.tensor.tape import state
from autohybrid.transform.merge import Merge
from autohybrid.transform.sides import Changes, Side, build_side


def build_branch(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Stage `if test` with the results of both sides merged. Raises HybridizeError where they cannot be one value."""
    builder: Builder = state.builder
    condition = builder.lift(test)
    require_one_element(condition)
    sides = [build_side(builder, side, values) for side in (then, otherwise)]
    if sides[0].error is not None and sides[1].error is not None:
        raise sides[0].error
    for failed, other in (sides, sides[::-1]):
        if failed.error is not None:
            failed.result = other.result
            failed.changes = Changes(effects=[*failed.changes.effects, _raising(builder, failed.error)])
    containers = {
        (id(a), id(b)): value for value, a, b in zip(values, sides[0].given, sides[1].given) if a is not value
    }
    merge = Merge(builder, sides[0].first_order, containers)
    if any(s.error is not None for s in sides):
        skeleton = _one_sided(merge, sides)
    else:
        skeleton = merge.add(sides[0].result, sides[1].result, "the result")
    stores = _merged_writes(builder, merge, sides)
    attributes = _merged_attributes(builder, merge, sides)
    heads = _node(builder, condition, merge, sides)
    for storage, position in stores:
        builder.note_write(storage)
        storage.write(heads[position])
    for block, name, merged in attributes:
        builder.log_attribute(block, name)
        setattr(block, name, merge.rebuild(merged, heads))
    return merge.rebuild(skeleton, heads)


def _one_sided(merge: Merge, sides: Sequence[Side]) -> Any:
    good = next(s for s in sides if s.error is None)
    return merge.add(good.result, good.result, "the result")


def _merged_writes(builder: Builder, merge: Merge, sides: Sequence[Side]) -> list[tuple[Storage, int]]:
    stores = []
    first, second = (side.changes.writes for side in sides)
    for key in {**first, **second}:
        storage = (first.get(key) or second[key])[0]
        heads = [writes[key][1] if key in writes else storage.head for writes in (first, second)]
        fact = builder.facts[heads[0]]
        assert fact.shape is not None and fact.dtype is not None
        merge.pairs.append((heads[0], heads[1]))
        merge.facts.append((fact.shape, fact.dtype))
        stores.append((storage, len(merge.pairs) - 1))
    return stores


def _merged_attributes(builder: Builder, merge: Merge, sides: Sequence[Side]) -> list[tuple[Any, str, Any]]:
    """Attributes of blocks that a side set: the block, the name, and the skeleton of the merged value."""
    merged = []
    first, second = (side.changes.attributes for side in sides)
    for key in {**first, **second}:
        block, name, _ = first.get(key) or second[key]
        values = [s[key][2] if key in s else block.__dict__.get(name, ABSENT) for s in (first, second)]
        if any(v is ABSENT for v in values):
            raise builder.refusal(
                f"attribute `{name}` is set on one side only of a branch on a tensor, and does not exist before it: "
                "set it in `__init__`"
            )
        merged.append((block, name, merge.add(values[0], values[1], f"attribute `{name}`")))
    return merged


def _node(builder: Builder, condition: GraphTensor, merge: Merge, sides: Sequence[Side]) -> list[Head]:
    effects = any(side.changes.effects for side in sides)
    if effects and not merge.pairs:  # a node needs an output to be run for
        fact = builder.facts[condition.head]
        merge.pairs.append((condition.head, condition.head))
        merge.facts.append((fact.shape or (1,), fact.dtype or "float32"))
    then, otherwise = (
        Subgraph([pair[i] for pair in merge.pairs], side.changes.effects, side.first_order)
        for i, side in enumerate(sides)
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
    require_one_element(condition)
    text = message()
    fact = builder.facts[condition.head]
    facts = [(fact.shape or (1,), fact.dtype or "float32")]
    node = make_effect([condition.head], Assert(text), facts, builder.fresh_name("assert"), user_span())
    builder.register(node, facts, False)
    builder.effects.append((node, 0))


def require_one_element(condition: GraphTensor) -> None:
    """Raise ValueError, as NDArray does, where the truth of a tensor with several elements is asked for."""
    shape = condition.known_shape()
    if shape is not None and -1 not in shape and math.prod(shape) > 1:
        raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
