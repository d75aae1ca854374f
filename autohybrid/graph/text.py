"""A graph for people: as text, one line a node with shapes and the user's place, and as DOT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from autohybrid.graph.node import Head, Node, program_order
from autohybrid.tensor.opdef import Shape


def graph_text(heads: Sequence[Head], shapes: Mapping[Head, Shape], dtypes: Mapping[Head, str | None]) -> str:
    """One line for each node: name, operator and inputs, attributes, output shape and dtype, the user's place."""
    rows = []
    for node in program_order(heads):
        rows.append((_left(node), _fact(node, shapes, dtypes), _place(node)))
    widths = [max((len(r[i]) for r in rows), default=0) for i in range(2)]
    lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    lines.append(f"return {', '.join(_name(h) for h in heads)}")
    return "\n".join(lines)


def graph_dot(heads: Sequence[Head], shapes: Mapping[Head, Shape]) -> str:
    """The graph in Graphviz's DOT language, inputs at the top."""
    nodes = program_order(heads)
    position = {node: i for i, node in enumerate(nodes)}
    lines = ["digraph graph_ {", '  node [shape=box, fontname="monospace"];']
    for node in nodes:
        label = node.name if node.op is None else f"{node.op.name}\\n{node.name}"
        shape = shapes.get((node, 0))
        text = label if shape is None else f"{label}\\n{'x'.join(map(str, shape))}"
        style = ", style=rounded" if node.op is None else ""
        lines.append(f'  n{position[node]} [label="{_quoted(text)}"{style}];')
        lines += [f"  n{position[source]} -> n{position[node]};" for source, _ in node.inputs]
    return "\n".join([*lines, "}"])


def _left(node: Node) -> str:
    if node.op is None:
        return f"{node.name} = input"
    given = {} if node.attrs is None else node.attrs.given
    arguments = [_name(h) for h in node.inputs] + [f"{k}={v}" for k, v in given.items()]
    return f"{node.name} = {node.op.name}({', '.join(arguments)})"


def _fact(node: Node, shapes: Mapping[Head, Shape], dtypes: Mapping[Head, str | None]) -> str:
    shape, dtype = shapes.get((node, 0)), dtypes.get((node, 0))
    return "" if shape is None else f"{'x'.join(map(str, shape)) or 'scalar'} {dtype or ''}".rstrip()


def _place(node: Node) -> str:
    return "" if node.span is None else f"# {PurePath(node.span.path).name}:{node.span.line}"


def _name(head: Head) -> str:
    node, index = head
    return node.name if index == 0 else f"{node.name}[{index}]"


def _quoted(text: str) -> str:
    return text.replace('"', '\\"')
