"""Writing a hybridized block as `-symbol.json` and `.params`.

A block whose code MXNet could hybridize too is traced with Symbols, which gives the names of nodes that MXNet gives.
Any other is written as the graph that its calls run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autohybrid.analysis.mxnet_names import namespace_facts
from autohybrid.context import current_context
from autohybrid.errors import HybridizeWarning, MXNetError
from autohybrid.gluon.structure import leaves
from autohybrid.tensor.namespaces import public_place

if TYPE_CHECKING:
    from autohybrid.gluon.hybrid_block import HybridBlock
    from autohybrid.graph.function import GraphFunction

#: What code raises that cannot run on Symbols.
_UNTRACEABLE = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)


def export_block(block: HybridBlock, path: str, epoch: int, remove_amp_cast: bool) -> None:
    """Write the graph of `block` and the parameters in it. Raises RuntimeError when it has not run hybridized."""
    from autohybrid import ndarray

    if block._in_format is None:
        raise RuntimeError(
            f"export needs the graph of {type(block).__name__} `{block.name}`: call hybridize() and run the block once "
            "on a batch first"
        )
    graph, captured = _graph(block)
    parameters = block.collect_params()
    values: dict[str, Any] = {}
    for kind, names in (("arg", graph.list_arguments()), ("aux", graph.list_auxiliary_states())):
        for name in names:
            if name in parameters:
                values[f"{kind}:{name}"] = parameters[name]._reduce()
            elif name in captured:
                values[f"{kind}:{name}"] = captured[name]
    graph.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
    ndarray.save(f"{path}-{epoch:04d}.params", values)


def _graph(block: HybridBlock) -> tuple[Any, Mapping[str, Any]]:
    """The graph as a Symbol, and the arrays of its variables that are neither inputs nor parameters."""
    compiled: Any = block._compiled
    if compiled is None or not (compiled.findings and compiled.findings.found):
        try:
            return block._exported_symbol(), {}
        except _UNTRACEABLE:
            if compiled is None:
                raise
    return _compiled_graph(block, compiled)


def trace_for_export(block: HybridBlock) -> Any:
    """The outputs of `block` on variables `data`, or `data0`, `data1`..., in the structure of its first call."""
    form = block._in_format
    assert form is not None
    return block._trace(form, sum(1 for leaf in leaves(form) if leaf == 0))[1]


def _compiled_graph(block: HybridBlock, compiled: Any) -> tuple[Any, Mapping[str, Any]]:
    from autohybrid.symbol import Symbol

    predicting = [entry.function for key, entry in compiled.entries.items() if key[1] is False and key[2] is False]
    if not predicting:
        raise RuntimeError(f"export of `{block.name}` needs a call outside `autograd.record()`: run it once on a batch")
    function = predicting[-1]
    graph = Symbol(function.outputs.heads)
    _refuse_unknown(block, graph)
    if function.read_places:
        warnings.warn(_baked_in(block, function), HybridizeWarning, stacklevel=4)
    return graph, dict(zip(function.captured, function.captured_arrays()))


def _baked_in(block: HybridBlock, function: GraphFunction) -> str:
    """What the exported graph has of the call it was built for, and where the code read it."""
    signature = next(iter(function._code))[0]
    facts = {
        "shape": " and ".join(str(tuple(shape)) for shape, _ in signature),
        "dtype": " and ".join(dtype.name for _, dtype in signature),
        "context": str(current_context()),
    }
    read = [
        f"the {fact}{'' if span is None else f' ({span})'}: here {facts[fact]}"
        for fact, span in sorted(function.read_places.items())
    ]
    return (
        f"the code of `{block.name}` reads {'; '.join(read)}; the exported graph holds what followed from that, and is "
        "right for inputs of these only [AH803]"
    )


def _refuse_unknown(block: HybridBlock, graph: Any) -> None:
    """Raises MXNetError for operators that no file can hold, or that MXNet does not have."""
    for node, _ in graph.get_internals()._heads:
        if node.op is None:
            continue
        namespace, spelling = public_place(node.op.name)
        known = namespace_facts(namespace)
        named = node.op.is_numpy or (known is not None and spelling in known.shared | known.graph_only)
        if node.extra is None and named:
            continue
        place = f" ({node.span})" if node.span else ""
        what = "a loop or branch on tensors" if node.extra is not None else f"operator {node.op.name}"
        raise MXNetError(f"`{block.name}` cannot be exported: a file cannot hold {what}{place}, node `{node.name}`")
