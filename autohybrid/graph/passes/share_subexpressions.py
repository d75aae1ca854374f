"""Compute once what is computed several times: calls of one operator with equal attributes on the same inputs.

Requires nothing. Keeps every value bit for bit. Never touches calls that draw random numbers, write, or have bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, is_movable, rewritten


def _one_time(node: Node) -> int:
    return 0


def share_subexpressions(graph: PlannedGraph, time_of: Callable[[Node], int] = _one_time) -> PlannedGraph:
    """The first of equal calls for all of them, among those for which `time_of` is the same: what a call reads may
    have been written by the time of another."""
    known: dict[Any, Node] = {}

    def rule(node: Node) -> Sequence[Head] | None:
        if not is_movable(node):
            return None
        assert node.op is not None and node.attrs is not None
        try:
            first = known.setdefault((node.op, node.attrs, node.inputs, time_of(node)), node)
        except TypeError:  # an attribute that cannot be hashed, a captured list for example
            return None
        return None if first is node else [(first, i) for i in range(node.output_count)]

    return rewritten(graph, rule)
