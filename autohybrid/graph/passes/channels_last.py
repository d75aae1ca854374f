"""Convolutional parts of a graph run with the channels last, where products read their data without gaps.

A part is a set of calls that share values and each have a conversion (`graph/channels_last/conversions.py`). Values
that enter or leave it are transposed there; what the graph takes and gives is as it was. A part is converted where its
convolutions outweigh those copies. Requires parameters that are known ahead of a call. Rounds differently.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from autohybrid.graph.channels_last.conversions import (
    TRANSPOSE,
    Conversion,
    find_conversion,
    last_shape,
    moves,
    products,
)
from autohybrid.graph.channels_last.operators import TO_CHANNELS_LAST, make_attrs
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.passes.rewriting import PlannedGraph

#: Copying an element at the edge of a part costs about as much as this many products save.
_PRODUCTS_FOR_A_COPY = 64


def use_channels_last(graph: PlannedGraph) -> PlannedGraph:
    """The graph with its convolutional parts converted."""
    order = program_order(graph.heads)
    conversions = {node: c for node in order if (c := find_conversion(graph, node)) is not None}
    if not any(products(graph, node) for node in conversions):
        return graph
    worthwhile = {node for part in _parts(graph, conversions) if _pays(graph, order, part) for node in part}
    if not worthwhile:
        return graph
    return _Rewriter(graph, {node: c for node, c in conversions.items() if node in worthwhile}).rewrite(order)


def _parts(graph: PlannedGraph, nodes: Iterable[Node]) -> list[set[Node]]:
    """The nodes in groups that are connected by values with four axes."""
    part_of = {node: {node} for node in nodes}
    for node in list(part_of):
        for source, index in node.inputs:
            if source in part_of and moves(graph, (source, index)) and part_of[source] is not part_of[node]:
                small, large = sorted((part_of[source], part_of[node]), key=len)
                large |= small
                part_of.update(dict.fromkeys(small, large))
    return list({id(part): part for part in part_of.values()}.values())


def _pays(graph: PlannedGraph, order: list[Node], part: set[Node]) -> bool:
    crossing = {h for n in part for h in n.inputs if h[0] not in part and not graph.is_prepared(h)}
    crossing |= {h for n in order if n not in part for h in n.inputs if h[0] in part}
    crossing |= {h for h in graph.heads if h[0] in part}
    copied = sum(math.prod(graph.shapes[h]) for h in crossing)
    return bool(sum(products(graph, node) for node in part) >= _PRODUCTS_FOR_A_COPY * copied)


class _Rewriter:
    """One walk that makes the new nodes; each value exists in the layouts that someone reads."""

    def __init__(self, graph: PlannedGraph, conversions: dict[Node, Conversion]) -> None:
        self._graph = graph
        self._conversions = conversions
        self._first: dict[Head, Head] = {}  # in the layout of the user, where it is another head than before
        self._last: dict[Head, Head] = {}

    def rewrite(self, order: list[Node]) -> PlannedGraph:
        """The graph with the conversions done."""
        for node in order:
            if node.op is None:
                continue
            conversion = self._conversions.get(node)
            if conversion is not None:
                inputs = [self._as_last(h, node) for h in node.inputs]
                new = conversion(self._graph, node, inputs)
                shape = last_shape(self._graph.shapes[node, 0])
                self._last[node, 0] = self._placed(new, node, shape, self._graph.dtypes[node, 0])
                continue
            inputs = [self._as_first(h) for h in node.inputs]
            if tuple(inputs) != node.inputs:
                copy = Node(node.op, node.attrs, inputs, node.name, node.notes, node.span, node.extra, node.versions)
                for index in range(node.output_count):
                    head = (node, index)
                    self._first[head] = self._placed(
                        copy, node, self._graph.shapes[head], self._graph.dtypes[head], index
                    )
        return replace(self._graph, heads=tuple([self._as_first(h) for h in self._graph.heads]))

    def _as_last(self, head: Head, user: Node) -> Head:
        """`head` with the channels last, for a converted call."""
        if not moves(self._graph, head) or (products(self._graph, user) and head in user.inputs[1:]):
            return self._as_first(head)
        if self._graph.is_prepared(head):
            return self._prepared(head, user)
        found = self._last.get(head)
        if found is None:
            found = self._last[head] = self._entered(self._as_first(head))
        return found

    def _prepared(self, head: Head, user: Node) -> Head:
        """A prepared value with the channels last. One number for each channel is repeated along the rows of the image
        that it is used with: calls on it then go over long rows."""
        n, height, width, channels = last_shape(self._graph.shapes[head])
        if (n, height, width) == (1, 1, 1) and channels > 1:
            width = last_shape(self._graph.shapes[user, 0])[2]
        shape, dtype = (n, height, width, channels), self._graph.dtypes[head]
        return self._graph.prepare(f"{head[0].name}_last", _with_channels_last, [head], shape, dtype, width)

    def _entered(self, head: Head) -> Head:
        shape, dtype = last_shape(self._graph.shapes[head]), self._graph.dtypes[head]
        return self._placed(Node(TO_CHANNELS_LAST, make_attrs(), [head], f"{head[0].name}_last"), head[0], shape, dtype)

    def _as_first(self, head: Head) -> Head:
        """`head` in the layout of the user."""
        if head in self._first:
            return self._first[head]
        if head not in self._last or head[0] not in self._conversions:
            return head
        last, shape = self._last[head], self._graph.shapes[head]
        node = Node(TRANSPOSE, TRANSPOSE.parse({"axes": (0, 3, 1, 2)}), [last], f"{head[0].name}_first")
        self._first[head] = self._placed(node, last[0], shape, self._graph.dtypes[head])
        return self._first[head]

    def _placed(self, new: Node, place: Node, shape: tuple[int, ...], dtype: str, index: int = 0) -> Head:
        new.order = place.order
        self._graph.shapes[new, index], self._graph.dtypes[new, index] = shape, dtype
        return new, index


def _with_channels_last(array: Any, width: int) -> Any:
    """An array (n, channels, height, width) with the channels last, repeated to this width."""
    moved = array.transpose(0, 2, 3, 1)
    return np.ascontiguousarray(np.tile(moved, (1, 1, width // moved.shape[2], 1)))
