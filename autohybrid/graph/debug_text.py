"""`debug_str()` of symbols and executors: the graph as text in MXNet's form, and how much memory a run takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.node import Head, Node, auxiliary_variables, depth_first
from autohybrid.tensor.opdef import zero_gradient

_RULE = "-" * 20
_MEGABYTE = 1 << 20


def graph_text(heads: Sequence[Head]) -> str:
    """Outputs, variables and operator calls with their inputs and attributes, inputs before their users."""
    nodes = depth_first(heads)
    states = auxiliary_variables(nodes)
    lines = ["Symbol Outputs:"]
    lines += [f"\toutput[{i}]={node.name}({index})" for i, (node, index) in enumerate(heads)]
    for node in nodes:
        lines += [f"Variable:{node.name}"] if node.op is None else _call_lines(node, states)
    return "\n".join(lines) + "\n"


def _call_lines(node: Node, states: set[Node]) -> list[str]:
    assert node.op is not None and node.attrs is not None
    lines = [_RULE, f"Op:{node.op.name}, Name={node.name}"]
    if node.inputs:
        lines.append("Inputs:")
    for position, (source, index) in enumerate(node.inputs):
        # the version says whether calls write into the variable
        version = f" version={int(source in states)}" if source.op is None else ""
        lines.append(f"\targ[{position}]={source.name}({index}){version}")
    if node.attrs.given:
        lines += ["Attrs:", *[f"\t{key}={value}" for key, value in sorted(node.attrs.given.items())]]
    return lines


def memory_text(heads: Sequence[Head], arguments: Mapping[str, Any], wanted: set[str]) -> str:
    """The line about memory: intermediate results that exist at one time, in MB cut to an integer.

    `arguments` are the arrays by name, `wanted` the names of those whose gradients are asked for: what their
    computation needs is kept from forward to backward.
    """
    shapes = infer_shapes(heads, {name: tuple(array.shape) for name, array in arguments.items()})
    dtypes = infer_dtypes(heads, {name: np.dtype(array.dtype).name for name, array in arguments.items()})
    sizes = {h: _bytes(shapes[h], dtypes[h]) for h in shapes if h[0].op is not None}
    return f"Total {_peak(heads, sizes, _kept(heads, wanted)) // _MEGABYTE} MB allocated\n"


def _bytes(shape: tuple[int, ...] | None, dtype: str | None) -> int:
    if shape is None or dtype is None or -1 in shape:
        return 0
    return math.prod(shape) * np.dtype(dtype).itemsize


def _kept(heads: Sequence[Head], wanted: set[str]) -> set[Node]:
    """The calls that a gradient flows through, from the outputs back to a wanted variable."""
    nodes = depth_first(heads)
    leading: set[Node] = set()
    for node in nodes:
        if node.op is None:
            found = node.name in wanted
        else:
            found = node.op.grad is not zero_gradient and any(source in leading for source, _ in node.inputs)
        if found:
            leading.add(node)
    reached = {node for node, _ in heads if node in leading}
    for node in reversed(nodes):
        if node in reached:
            reached.update(source for source, _ in node.inputs if source in leading)
    return {node for node in reached if node.op is not None}


def _peak(heads: Sequence[Head], sizes: Mapping[Head, int], kept: set[Node]) -> int:
    """The most bytes alive at one time when calls run in order and each result goes after its last use."""
    nodes = depth_first(heads)
    last: dict[Head, int] = {}
    for step, node in enumerate(nodes):
        last.update({(node, i): step for i in range(node.output_count)})
        last.update(dict.fromkeys(node.inputs, step))
    going: dict[int, list[Head]] = {}
    for head, step in last.items():
        if head[0] not in kept and head not in heads:
            going.setdefault(step, []).append(head)
    alive = most = 0
    for step, node in enumerate(nodes):
        alive += sum(sizes.get((node, i), 0) for i in range(node.output_count))
        most = max(most, alive)
        alive -= sum(sizes.get(head, 0) for head in going.get(step, ()))
    return most
