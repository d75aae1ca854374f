"""How each kind of call is written for values with the channels last: the table that the layout pass works by.

A conversion gives the node that computes the same in the other layout, or None where it cannot. Calls that compute
element by element are converted as they are, whatever they compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autohybrid.graph.channels_last.operators import CONCAT, CONVOLUTION, POOLING, make_attrs
from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.fold_batch_norm import scaled_weight
from autohybrid.graph.passes.rewriting import PlannedGraph
from autohybrid.tensor.channels_last.choose import choose_strategy
from autohybrid.tensor.channels_last.layer import Finish, Layer
from autohybrid.tensor.channels_last.pool import SlidingPool
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.ops.convolution import window_of
from autohybrid.tensor.ops.pooling import pool_of
from autohybrid.tensor.shapes import is_known, normalize_axis
from autohybrid.tensor.templates import Elementwise

#: Makes the node for a call and its inputs in the other layout (parameters as they are).
Conversion = Callable[[PlannedGraph, Node, Sequence[Head]], Node]


def find_conversion(graph: PlannedGraph, node: Node) -> Conversion | None:
    """The conversion of a call; None where it stays as it is."""
    if node.op is None or node.extra is not None or not _is_image(graph, (node, 0)):
        return None
    known = _TABLE.get(node.op.name)
    if known is not None:
        return known(graph, node)
    template = node.op.fast
    if not isinstance(template, Elementwise) or template.rows or template.pieces is not None:
        return None
    images = sum(_is_image(graph, h) for h in node.inputs)
    return _as_it_is if images and all(_fits(graph, h) for h in node.inputs) else None


def moves(graph: PlannedGraph, head: Head) -> bool:
    """Whether a value has another form with the channels last: four axes. Single numbers are the same in both."""
    shape = graph.shapes[head]
    return shape is not None and len(shape) == 4


def last_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape (n, channels, height, width) with the channels last."""
    n, channels, height, width = shape
    return (n, height, width, channels)


def products(graph: PlannedGraph, node: Node) -> int:
    """How many products a convolution takes; 0 for other calls."""
    if node.op is None or node.op.name not in _CONVOLUTIONS:
        return 0
    return int(np.prod(graph.shapes[node, 0])) * int(np.prod(graph.shapes[node.inputs[1]][1:]))


def _is_image(graph: PlannedGraph, head: Head) -> bool:
    """Whether a value is float32, has four known axes, and is not empty."""
    shape = graph.shapes[head]
    return moves(graph, head) and is_known(shape) and 0 not in shape and graph.dtypes[head] == "float32"


def _fits(graph: PlannedGraph, head: Head) -> bool:
    return _is_image(graph, head) or (graph.dtypes[head] == "float32" and graph.shapes[head] in ((), (1,)))


def _as_it_is(graph: PlannedGraph, node: Node, inputs: Sequence[Head]) -> Node:
    return Node(node.op, node.attrs, inputs, node.name, node.notes, node.span)


def _layer(graph: PlannedGraph, node: Node) -> Layer:
    assert node.attrs is not None
    data = last_shape(graph.shapes[node.inputs[0]])
    return Layer(data, node.attrs.num_filter, window_of(node.attrs), node.attrs.num_group)  # type: ignore[arg-type]


def _convolution(graph: PlannedGraph, node: Node) -> Conversion | None:
    assert node.attrs is not None
    layout = node.attrs.layout
    if (layout is not None and layout[1] != "C") or not _is_image(graph, node.inputs[0]):
        return None
    if not all(graph.is_prepared(h) and graph.dtypes[h] == "float32" for h in node.inputs[1:]):
        return None
    if choose_strategy(_layer(graph, node), Finish()) is None:
        return None
    return _converted_convolution


def _converted_convolution(graph: PlannedGraph, node: Node, inputs: Sequence[Head]) -> Node:
    has_bias = len(inputs) == 3
    strategy = choose_strategy(_layer(graph, node), Finish(has_bias=has_bias), graph.threads)
    assert strategy is not None
    recipe = graph.recipes.get(inputs[1][0])
    # A scaled weight that nothing else reads need not be made.
    sources = recipe.inputs if recipe is not None and recipe.make is scaled_weight else (inputs[1],)
    packed = graph.prepare(f"{node.name}_packed", _pack, sources, strategy.packed_shape, "float32", strategy)
    given = [inputs[0], packed]
    if has_bias:
        count = strategy.bias_repeats
        shape = (count * graph.shapes[inputs[2]][0],)
        given.append(graph.prepare(f"{node.name}_bias", np.tile, [inputs[2]], shape, "float32", count))
    return Node(CONVOLUTION, make_attrs(strategy=strategy), given, node.name, span=node.span)


def _pack(*operands: Any) -> Any:
    """The weight, and perhaps a scale, by the strategy behind them."""
    *arrays, strategy = operands
    return strategy.pack(*arrays)


def _pooling(graph: PlannedGraph, node: Node) -> Conversion | None:
    assert node.attrs is not None
    layout = getattr(node.attrs, "layout", None)
    if (layout is not None and layout[1] != "C") or not _is_image(graph, node.inputs[0]):
        return None
    if node.attrs.global_pool:
        return _converted_global_pooling
    return _converted_pooling if node.attrs.pool_type in ("max", "sum", "avg") else None


def _converted_global_pooling(graph: PlannedGraph, node: Node, inputs: Sequence[Head]) -> Node:
    assert node.op is not None and node.attrs is not None
    attrs = node.op.parse({**node.attrs.values(), "layout": "NHWC"})
    return Node(node.op, attrs, inputs, node.name, node.notes, node.span)


def _converted_pooling(graph: PlannedGraph, node: Node, inputs: Sequence[Head]) -> Node:
    assert node.attrs is not None
    shape = graph.shapes[node.inputs[0]]
    pool = replace(pool_of(node.attrs, shape), first=1)
    include_pad = node.attrs.count_include_pad is not False
    strategy = SlidingPool(last_shape(shape), pool, node.attrs.pool_type, include_pad)  # type: ignore[arg-type]
    return Node(POOLING, make_attrs(pool=strategy), inputs, node.name, span=node.span)


def _concat(graph: PlannedGraph, node: Node) -> Conversion | None:
    assert node.attrs is not None
    along_channels = normalize_axis(node.attrs.dim, 4, "dim") == 1
    return _converted_concat if along_channels and all(_is_image(graph, h) for h in node.inputs) else None


def _converted_concat(graph: PlannedGraph, node: Node, inputs: Sequence[Head]) -> Node:
    return Node(CONCAT, make_attrs(count=len(inputs)), inputs, node.name, span=node.span)


_CONVOLUTIONS = ("Convolution", "Convolution_v1")
_TABLE: dict[str, Callable[[PlannedGraph, Node], Conversion | None]] = {
    **dict.fromkeys(_CONVOLUTIONS, _convolution),
    "Pooling": _pooling,
    "Concat": _concat,
}
TRANSPOSE = get_operator("transpose")
