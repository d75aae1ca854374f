"""Rewriting a graph: new nodes for what a rule replaces and for what depends on it, everything else as it is.

Owns what passes share: the facts of heads, and the one walk that builds the new graph. Nodes are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autohybrid.graph.node import Head, Node, program_order


@dataclass(frozen=True, slots=True)
class PlannedGraph:
    """A graph under one signature and train mode: what it computes, and the shape and dtype of every output."""

    heads: tuple[Head, ...]
    shapes: dict[Head, Any]
    dtypes: dict[Head, Any]
    train: bool


Pass = Callable[[PlannedGraph], PlannedGraph]
#: The heads that a node's outputs are replaced with, or None to keep the node.
Rule = Callable[[Node], Sequence[Head] | None]


def is_movable(node: Node) -> bool:
    """Whether a call is nothing but its outputs: no random numbers, no writes, no modes or bodies of its own."""
    op = node.op
    if op is None or node.extra is not None or op.random or op.mutates or op.session is not None:
        return False
    return op.backward_state is None


def rewritten(graph: PlannedGraph, rule: Rule) -> PlannedGraph:
    """`graph` with the outputs of every node for which `rule` gives heads replaced by those.

    `rule` sees each operator node with its inputs already replaced. New nodes take the place in the program (`order`)
    of the nodes they stand for, so random numbers are drawn in the same sequence.
    """
    shapes, dtypes = dict(graph.shapes), dict(graph.dtypes)
    replaced: dict[Head, Head] = {}
    for node in program_order(graph.heads):
        if node.op is None:
            continue
        current = _with_inputs(node, tuple([replaced.get(h, h) for h in node.inputs]))
        heads = rule(current)
        if heads is None:
            if current is node:
                continue
            heads = [(current, i) for i in range(node.output_count)]
        for index, head in enumerate(heads):
            replaced[node, index] = head
            shapes.setdefault(head, graph.shapes[node, index])
            dtypes.setdefault(head, graph.dtypes[node, index])
    return PlannedGraph(tuple([replaced.get(h, h) for h in graph.heads]), shapes, dtypes, graph.train)


def _with_inputs(node: Node, inputs: tuple[Head, ...]) -> Node:
    if inputs == node.inputs:
        return node
    copy = Node(node.op, node.attrs, inputs, node.name, node.notes, node.span, node.extra, node.versions)
    copy.order = node.order
    return copy
