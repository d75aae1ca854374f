"""What follows a convolution with the channels last is done while its results are in the cache.

    relu(conv(x)), clip(conv(x)), conv(x) + y, relu(conv(x) + y)    one call each
    maxpool(relu(conv(x) + b)) = relu(maxpool(conv(x)) + b)         on fewer elements

Requires the layout pass. Keeps every value bit for bit, but for the order of the sum with a bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autohybrid.graph.channels_last.operators import CONVOLUTION, POOLING, make_attrs
from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, count_uses, rewritten
from autohybrid.tensor.channels_last.choose import without_finish
from autohybrid.tensor.channels_last.layer import Finish

_SUMS = ("elemwise_add", "broadcast_add")


def fuse_finish(graph: PlannedGraph) -> PlannedGraph:
    """The graph with limits and sums in the convolutions that they follow."""
    uses = count_uses(graph)

    def is_open(head: Head) -> bool:
        """Whether a value is a convolution's that nothing else reads and that has no limits yet."""
        node = head[0]
        if node.op is not CONVOLUTION or node.attrs is None or uses[node.order, 0] != 1:
            return False
        return not node.attrs.strategy.finish.is_clipped

    def rule(node: Node) -> Sequence[Head] | None:
        limits = _limits(node)
        if limits is not None:
            source = node.inputs[0]
            return [_finished(source[0], node, limits, source[0].inputs)] if is_open(source) else None
        if node.op is POOLING:
            return _finished_after(graph, node, uses)
        if node.op is None or node.op.name not in _SUMS:
            return None
        if len({graph.shapes[h] for h in (*node.inputs, (node, 0))}) != 1 or node.inputs[0] == node.inputs[1]:
            return None
        last = sorted((0, 1), key=lambda i: -node.inputs[i][0].order)  # what it is added to should be there by then
        for index in last:
            source, other = node.inputs[index], node.inputs[1 - index]
            if is_open(source) and not _finish_of(source[0]).has_residual:
                return [_finished(source[0], node, Finish(has_residual=True), (*source[0].inputs, other))]
        return None

    return rewritten(graph, rule)


def _limits(node: Node) -> Finish | None:
    """The limits that a call sets; None for other calls."""
    if node.op is None or node.attrs is None:
        return None
    if node.op.name == "relu":
        return Finish(low=0.0)
    if node.op.name == "Activation" and node.attrs.act_type == "relu":
        return Finish(low=0.0, drops_nan=True)
    if node.op.name == "clip" and node.attrs.a_min <= node.attrs.a_max:
        return Finish(low=node.attrs.a_min, high=node.attrs.a_max)
    return None


def _finished_after(graph: PlannedGraph, node: Node, uses: dict[tuple[int, int], int]) -> Sequence[Head] | None:
    """Maxima of a convolution that are finished instead of it."""
    assert node.attrs is not None
    source, _ = node.inputs[0]
    if node.attrs.pool.kind != "max" or source.op is not CONVOLUTION or uses[source.order, 0] != 1:
        return None
    finish = _finish_of(source)
    if finish.has_residual or not (finish.has_bias or finish.is_clipped) or source.attrs is None:
        return None
    strategy = without_finish(source.attrs.strategy)
    data, packed = source.inputs[:2]
    recipe = graph.recipes[packed[0]]
    shape, dtype = strategy.packed_shape, graph.dtypes[packed]
    packed = graph.prepare(f"{source.name}_packed", recipe.make, recipe.inputs, shape, dtype, strategy)
    plain = Node(CONVOLUTION, make_attrs(strategy=strategy), [data, packed], source.name, span=source.span)
    plain.order = source.order
    graph.shapes[plain, 0], graph.dtypes[plain, 0] = graph.shapes[source, 0], graph.dtypes[source, 0]
    pool = replace(node.attrs.pool, finish=finish)
    inputs: list[Head] = [(plain, 0)]
    if finish.has_bias:
        inputs.append(_repeated_bias(graph, source, pool.bias_repeats))
    new = Node(POOLING, make_attrs(pool=pool), inputs, node.name, span=node.span)
    new.order = node.order
    return [(new, 0)]


def _repeated_bias(graph: PlannedGraph, source: Node, count: int) -> Head:
    """The bias of a convolution, which is there some times behind itself, `count` times."""
    assert source.attrs is not None
    strategy, bias = source.attrs.strategy, source.inputs[2]
    filters = strategy.layer.filters
    return graph.prepare(f"{source.name}_bias", _repeated, [bias], (count * filters,), "float32", filters, count)


def _repeated(bias: Any, filters: int, count: int) -> Any:
    return np.tile(bias[:filters], count)


def _finish_of(node: Node) -> Finish:
    assert node.attrs is not None
    finish: Finish = node.attrs.strategy.finish
    return finish


def _finished(source: Node, place: Node, more: Finish, inputs: Sequence[Head]) -> Head:
    """The convolution `source` that also does `more`, at the place of another node in the program."""
    assert source.attrs is not None
    before = _finish_of(source)
    finish = replace(more, has_bias=before.has_bias, has_residual=before.has_residual or more.has_residual)
    strategy = replace(source.attrs.strategy, finish=finish)
    new = Node(CONVOLUTION, make_attrs(strategy=strategy), inputs, source.name, span=source.span)
    new.order = place.order
    return new, 0
