"""Rewriting a graph: new nodes for what a rule replaces and for what depends on it, everything else as it is.

Owns what passes share: the facts of heads, and the one walk that builds the new graph. Nodes are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.prepared import Recipe


@dataclass(frozen=True, slots=True)
class PlannedGraph:
    """A graph under one signature and train mode: what it computes, and the shape and dtype of every output.

    `captured` are the variables whose values stay from call to call (parameters), `recipes` the variables that passes
    made for values computed from them ahead of the calls. `exact`: every number must stay as it is, bit for bit.
    `threads` may share the work of one call.
    """

    heads: tuple[Head, ...]
    shapes: dict[Head, Any]
    dtypes: dict[Head, Any]
    train: bool
    exact: bool = False
    captured: frozenset[Node] = frozenset()
    recipes: dict[Node, Recipe] = field(default_factory=dict)
    threads: int = 1
    _variables: dict[Recipe, Node] = field(default_factory=dict)

    def is_prepared(self, head: Head) -> bool:
        """Whether the value is known ahead of a call."""
        return head[0] in self.captured or head[0] in self.recipes

    def prepare(
        self,
        hint: str,
        make: Callable[..., Any],
        inputs: Sequence[Head],
        shape: Sequence[int],
        dtype: str,
        *options: Any,
    ) -> Head:
        """A variable for `make(*arrays, *options)` of inputs that are prepared, computed when those change only.

        `make` takes and gives raw arrays, of this shape and dtype. Equal requests give one variable, so `make` should
        be a function of a module, and the options hashable.
        """
        recipe = Recipe(make, tuple(inputs), options)
        node = self._variables.get(recipe)
        if node is None:
            node = self._variables[recipe] = Node(None, None, (), hint)
            self.recipes[node] = recipe
            self.shapes[node, 0], self.dtypes[node, 0] = tuple(shape), dtype
        return node, 0


Pass = Callable[[PlannedGraph], PlannedGraph]
#: The heads that a node's outputs are replaced with, or None to keep the node.
Rule = Callable[[Node], Sequence[Head] | None]


def is_movable(node: Node) -> bool:
    """Whether a call is nothing but its outputs: no random numbers, no writes, no modes or bodies of its own."""
    op = node.op
    if op is None or node.extra is not None or op.random or op.mutates or op.session is not None:
        return False
    return op.backward_state is None


def count_uses(graph: PlannedGraph) -> dict[tuple[int, int], int]:
    """How often each output is read, by the place of its node in the program, which rewriting keeps."""
    uses: dict[tuple[int, int], int] = {}
    for node, index in (*graph.heads, *[h for n in program_order(graph.heads) for h in n.inputs]):
        uses[node.order, index] = uses.get((node.order, index), 0) + 1
    return uses


def rewritten(graph: PlannedGraph, rule: Rule) -> PlannedGraph:
    """`graph` with the outputs of every node for which `rule` gives heads replaced by those.

    `rule` sees each operator node with its inputs already replaced. New nodes take the place in the program (`order`)
    of the nodes they stand for, so random numbers are drawn in the same sequence.
    """
    replaced: dict[Head, Head] = {}
    for node in program_order(graph.heads):
        if node.op is None:
            continue
        current = _with_inputs(node, tuple([replaced.get(h, h) for h in node.inputs]))
        own = [(current, i) for i in range(node.output_count)]
        _copy_facts(graph, node, own)
        heads = rule(current)
        if heads is None and current is node:
            continue
        replacement = own if heads is None else heads
        _copy_facts(graph, node, replacement)
        replaced.update({(node, index): head for index, head in enumerate(replacement)})
    heads = tuple([replaced.get(h, h) for h in graph.heads])
    return replace(graph, heads=heads)


def _copy_facts(graph: PlannedGraph, node: Node, heads: Sequence[Head]) -> None:
    """`heads` stand for the outputs of `node`. The tables are shared by all graphs of one plan and only grow."""
    for index, head in enumerate(heads):
        graph.shapes.setdefault(head, graph.shapes[node, index])
        graph.dtypes.setdefault(head, graph.dtypes[node, index])


def _with_inputs(node: Node, inputs: tuple[Head, ...]) -> Node:
    if inputs == node.inputs:
        return node
    copy = Node(node.op, node.attrs, inputs, node.name, node.notes, node.span, node.extra, node.versions)
    copy.order = node.order
    return copy
