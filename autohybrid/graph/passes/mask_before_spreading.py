"""Mask a gradient before max pooling spreads it, where relu came before the pooling: there are fewer numbers then.

`relu'(a) * spread(h)` is `spread(relu'(y) * h)` for the maxima `y` of `a`: at the element that gets a head, `a` is `y`,
and everywhere else both are zero. Requires nothing; keeps every value, but zeros that may change their sign.
"""

from __future__ import annotations

from collections.abc import Sequence

from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, rewritten


def mask_before_spreading(graph: PlannedGraph) -> PlannedGraph:
    """`_backward_pool_max(_backward_relu(h, y), a, y)` for `_backward_relu(_backward_pool_max(h, a, y), a)`."""

    def rule(node: Node) -> Sequence[Head] | None:
        if node.op is None or node.op.name != "_backward_relu":
            return None
        spread, mask = node.inputs
        op = spread[0].op
        if op is None or op.name != "_backward_pool_max" or spread[0].inputs[1] != mask:
            return None
        head, data, output = spread[0].inputs
        masked = _like(graph, node, node, (head, output), head)
        return [(_like(graph, node, spread[0], ((masked, 0), data, output), spread), 0)]

    return rewritten(graph, rule)


def _like(graph: PlannedGraph, place: Node, node: Node, inputs: tuple[Head, ...], fact: Head) -> Node:
    """The call of `node` on other inputs, at `place` in the program, with an output like `fact`."""
    made = Node(node.op, node.attrs, inputs, node.name, node.notes, place.span)
    made.order = place.order
    graph.shapes[made, 0], graph.dtypes[made, 0] = graph.shapes[fact], graph.dtypes[fact]
    return made
