"""Writing a hybridized block as `-symbol.json` and `.params`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autohybrid.gluon.structure import leaves

if TYPE_CHECKING:
    from autohybrid.gluon.hybrid_block import HybridBlock


def export_block(block: HybridBlock, path: str, epoch: int, remove_amp_cast: bool) -> None:
    """Write the graph of `block` and the parameters in it. Raises RuntimeError when it has not run hybridized."""
    from autohybrid import ndarray

    if block._in_format is None:
        raise RuntimeError(
            f"export needs the graph of {type(block).__name__} `{block.name}`: call hybridize() and run the block once "
            "on a batch first"
        )
    graph = _graph(block)
    graph.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
    parameters = block.collect_params()
    values: dict[str, Any] = {}
    for kind, names in (("arg", graph.list_arguments()), ("aux", graph.list_auxiliary_states())):
        values.update({f"{kind}:{name}": parameters[name]._reduce() for name in names if name in parameters})
    ndarray.save(f"{path}-{epoch:04d}.params", values)


def _graph(block: HybridBlock) -> Any:
    if block._cached_graph:
        return block._cached_graph[1]
    form = block._in_format
    assert form is not None
    return block._trace(form, sum(1 for leaf in leaves(form) if leaf == 0))[1]
