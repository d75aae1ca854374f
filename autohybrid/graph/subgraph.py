"""A part of a graph that runs as one: the body of a branch or a loop, cut out of the graph it was built in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autohybrid.graph.interpreter import run_node
from autohybrid.graph.node import Head, Node
from autohybrid.tensor.array import NDArray


class Subgraph:
    """The nodes made after `first_order` that `heads` and `effects` need. `free` are the outputs it takes from outside.

    Variables always count as outside: they are fed once for the whole graph.
    """

    def __init__(
        self, heads: Sequence[Head], effects: Sequence[Head], first_order: int, bound: Iterable[Head] = ()
    ) -> None:
        self.heads = tuple(heads)
        bound_heads = set(bound)
        inside: set[Node] = set()
        free: dict[Head, None] = {}
        pending = [*heads, *effects]
        while pending:
            head = pending.pop()
            node = head[0]
            if head in bound_heads:
                continue
            if node.op is None or node.order < first_order:
                free[head] = None
            elif node not in inside:
                inside.add(node)
                pending.extend(node.inputs)
        self.order = sorted(inside, key=lambda node: node.order)
        self.free = tuple(sorted(free, key=lambda head: (head[0].order, head[1])))

    def run(self, values: Mapping[Head, NDArray]) -> list[NDArray]:
        """The heads, for values of the free (and bound) outputs."""
        known = dict(values)
        for node in self.order:
            for index, value in enumerate(run_node(node, [known[h] for h in node.inputs])):
                known[node, index] = value
        return [known[h] for h in self.heads]
