"""The passes over a graph before code is generated for it, in order. Add a pass: one file here, one line below."""

from __future__ import annotations

from autohybrid.graph.node import depth_first
from autohybrid.graph.passes.channels_last import use_channels_last
from autohybrid.graph.passes.drop_identities import drop_identities
from autohybrid.graph.passes.fold_batch_norm import fold_batch_norm
from autohybrid.graph.passes.fold_constants import fold_constants
from autohybrid.graph.passes.fuse_finish import fuse_finish
from autohybrid.graph.passes.rewriting import Pass, PlannedGraph
from autohybrid.graph.passes.share_subexpressions import share_subexpressions
from autohybrid.graph.passes.shift_bias import shift_bias

#: These keep every number bit for bit.
PASSES: tuple[Pass, ...] = (drop_identities, share_subexpressions, fold_constants)
#: These compute the same in another order; they are left out of exact graphs.
FAST_PASSES: tuple[Pass, ...] = (fold_batch_norm, use_channels_last, fuse_finish, shift_bias)


def optimize(graph: PlannedGraph) -> PlannedGraph:
    """`graph` after all passes. A graph with calls that write into their inputs is left as it is: what such a call
    does to the other readers of an input depends on the order and on every copy."""
    if any(n.op is not None and n.op.mutates and not n.op.train_dependent for n in depth_first(graph.heads)):
        return graph
    for run in PASSES if graph.exact else (*PASSES, *FAST_PASSES):
        graph = run(graph)
    return graph
