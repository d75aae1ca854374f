"""`contrib.cond` and `contrib.while_loop` while a graph is built: nodes with bodies, as the lowered statements make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.graph.builder import Builder, user_span
from autohybrid.graph.control import make_loop
from autohybrid.graph.graph_tensor import GraphTensor
from autohybrid.graph.node import Head, Node
from autohybrid.graph.structure import flatten, unflatten
from autohybrid.graph.subgraph import Subgraph
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.tape import state
from autohybrid.transform.branches import build_branch
from autohybrid.transform.sides import build_side
from autohybrid.transform.while_loop import carried_facts


class ContribControl:
    """What `builder.control` offers to the functions of `nd.contrib`."""

    @staticmethod
    def branch(condition: NDArray, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """`contrib.cond`."""
        return build_branch(condition, then, otherwise, ())

    @staticmethod
    def while_loop(
        condition: Callable[..., Any], body: Callable[..., Any], variables: Sequence[NDArray], limit: int
    ) -> tuple[Any, list[Any]]:
        """`contrib.while_loop`: the collected outputs and the last loop variables.

        Raises HybridizeError when a loop variable changes its shape or dtype.
        """
        builder: Builder = state.builder
        first = [builder.lift(v) for v in variables]
        mark = Node(None, None, (), "").order
        stand_ins = [_variable(builder, t) for t in first]
        side = build_side(builder, lambda: (condition(*stand_ins), body(*stand_ins)), ())
        if side.error is not None:
            raise side.error
        holds, (output, after) = side.result
        after = [after] if isinstance(after, NDArray) else list(after)
        if len(after) != len(first):
            raise ValueError(f"while_loop: `func` returned {len(after)} loop variables for {len(first)}")
        heads = [builder.lift(a).head for a in after]
        facts = carried_facts(builder, first, heads, "this `while_loop`")
        leaves: list[Any] = []
        structure = flatten([] if output is None else output, leaves)
        collected = [builder.lift(leaf).head for leaf in leaves]
        bound = [t.head for t in stand_ins]
        node = make_loop(
            [t.head for t in first],
            bound,
            Subgraph([_condition_head(builder, holds)], (), mark, bound),
            Subgraph([*heads, *collected], side.changes.effects, mark, bound),
            facts,
            builder.fresh_name("while_loop"),
            user_span(),
            limit,
            [builder.known_fact(h) for h in collected],
        )
        outputs = [*facts, *[((limit, *s), d) for s, d in (builder.known_fact(h) for h in collected)]]
        builder.register(node, outputs, state.recording and any(builder.facts[h].differentiable for h in node.inputs))
        made = [builder.tensor((node, i), first[0]._ctx) for i in range(len(outputs))]
        return unflatten(structure, iter(made[len(first) :])), made[: len(first)]


def _variable(builder: Builder, tensor: GraphTensor) -> GraphTensor:
    node = Node(None, None, (), builder.fresh_name("state"))
    builder.facts[node, 0] = builder.facts[tensor.head]
    return builder.tensor((node, 0), tensor._ctx)


def _condition_head(builder: Builder, value: Any) -> Head:
    if isinstance(value, NDArray):
        return builder.lift(value).head
    return builder.apply("_full", shape=(1,), value=float(value), dtype="float32").head
