"""What follows a convolution with the channels last is done while its results are in the cache.

    relu(conv(x)), clip(conv(x)), conv(x) + y, relu(conv(x) + y)    one call each

Requires the layout pass. Keeps every value bit for bit, but for the order of the sum with a bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autohybrid.graph.channels_last.operators import CONVOLUTION, make_attrs
from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, count_uses, rewritten
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
