"""Rebuild a graph with some of its variables replaced by outputs of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node, depth_first


def compose(
    heads: Sequence[Head], arguments: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any], name: str | None
) -> list[Head]:
    """The heads over a copy of the graph, with arguments replaced by the given one-output symbols."""
    if args and kwargs:
        raise TypeError("compose only accept input Symbols either as positional or keyword arguments, not both")
    if len(args) > len(arguments):
        raise MXNetError(f"composition: {len(args)} symbols for {len(arguments)} arguments")
    given = dict(zip(arguments, args)) if args else dict(kwargs)
    unknown = [key for key in given if key not in arguments]
    if unknown:
        raise MXNetError(f"composition: there is no argument `{unknown[0]}`; there are {', '.join(arguments)}")
    for key, symbol in given.items():
        if not hasattr(symbol, "_heads"):
            raise TypeError("Compose expect `Symbol` as arguments")
        if len(symbol._heads) != 1:
            raise MXNetError(f"composition: the symbol for `{key}` has {len(symbol._heads)} outputs, not one")
    result = replace_variables(heads, {key: symbol._heads[0] for key, symbol in given.items()})
    if name is not None and len(result) == 1:
        node, index = result[0]
        result = [(Node(node.op, node.attrs, node.inputs, name, dict(node.notes), node.span, node.extra), index)]
    return result


def replace_variables(heads: Sequence[Head], replacements: Mapping[str, Head]) -> list[Head]:
    """The same heads over a copy of the graph in which variables are replaced by name."""
    copies: dict[Node, Node] = {}

    def map_head(head: Head) -> Head:
        node, index = head
        if node.op is None and node.name in replacements:
            return replacements[node.name]
        return copies[node], index

    for node in depth_first(heads):
        if node.op is None:
            copies[node] = node
        else:
            inputs = [map_head(h) for h in node.inputs]
            unchanged = all(a == b for a, b in zip(inputs, node.inputs))
            copies[node] = (
                node
                if unchanged
                else Node(node.op, node.attrs, inputs, node.name, dict(node.notes), node.span, node.extra)
            )
    return [map_head(h) for h in heads]
