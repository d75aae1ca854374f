"""Compute ahead what depends on captured arrays alone: `1 + gamma`, a transposed weight, the masks of a layer.

Requires nothing. Keeps every value bit for bit. Leaves alone what draws random numbers, writes or has bodies, and
results much larger than what they are made from: those would take memory between calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.context import cpu
from autohybrid.errors import MXNetError
from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, is_movable, rewritten
from autohybrid.tensor.imperative import run_kernel
from autohybrid.tensor.shapes import is_known

#: Results up to this many elements are kept whatever they are made from.
SMALL = 1 << 14


def fold_constants(graph: PlannedGraph) -> PlannedGraph:
    """A prepared value for every call on prepared values."""

    def rule(node: Node) -> Sequence[Head] | None:
        if not is_movable(node) or not all(map(graph.is_prepared, node.inputs)):
            return None
        outputs = [(node, i) for i in range(node.output_count)]
        if not all(is_known(graph.shapes[h]) and graph.dtypes[h] is not None for h in outputs):
            return None
        size = sum(math.prod(graph.shapes[h]) for h in outputs)
        if size > max(SMALL, 2 * sum(math.prod(graph.shapes[h]) for h in node.inputs)):
            return None
        return [
            graph.prepare(node.name, _run, node.inputs, graph.shapes[h], graph.dtypes[h], node, h[1], graph.train)
            for h in outputs
        ]

    return rewritten(graph, rule)


def _run(*operands: Any) -> Any:
    """Output `index` of the call `node` on raw arrays; its errors name the user's line."""
    *arrays, node, index, train = operands
    try:
        results = run_kernel(node.op, node.attrs, np, arrays, train, cpu())
    except MXNetError as error:
        raise error if node.span is None else type(error)(f"{node.span}: {error}") from error
    return np.ascontiguousarray(results[index]).reshape(results[index].shape)
