"""Drop calls that hand on their input: Dropout outside training, BlockGrad, copies.

Requires a graph without operators that write into inputs: a copy made before such a write must stay. Keeps every value
bit for bit; outputs that have become inputs of the graph are copied where they leave it.
"""

from __future__ import annotations

from collections.abc import Sequence

from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, rewritten


def drop_identities(graph: PlannedGraph) -> PlannedGraph:
    """`x` for `identity(x)`."""

    def rule(node: Node) -> Sequence[Head] | None:
        assert node.op is not None and node.attrs is not None
        if node.extra is not None or node.op.is_identity is None or not node.op.is_identity(node.attrs, graph.train):
            return None
        return [node.inputs[0]]

    return rewritten(graph, rule)
