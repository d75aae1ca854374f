"""The plain executor: run a graph node by node on NDArrays. The reference that every other executor is compared with.

Calls go through the imperative front end, so recording, train mode and random numbers behave as in imperative code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.modes import ScopedModes
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.imperative import invoke

Monitor = Callable[[str, NDArray], None]


def run(
    heads: Sequence[Head], feed: Mapping[str, NDArray], monitor: Monitor | None = None, order: Sequence[Node] | None = None
) -> list[NDArray]:
    """The values of `heads` for variables fed by name. `order` saves sorting the nodes again.

    Raises MXNetError, naming the user's line where it is known, for a missing variable or a call that fails.
    """
    values: dict[Head, NDArray] = {}
    for node in program_order(heads) if order is None else order:
        if node.op is None:
            if node.name not in feed:
                raise MXNetError(f"variable `{node.name}` was given no value")
            values[node, 0] = feed[node.name]
            continue
        for index, value in enumerate(run_node(node, [values[h] for h in node.inputs])):
            values[node, index] = value
            if monitor is not None:
                monitor(node.output_label(index), value)
    return [values[h] for h in heads]


def run_node(node: Node, inputs: Sequence[NDArray]) -> Sequence[NDArray]:
    """Run one operator node; its visible outputs."""
    assert node.op is not None and node.attrs is not None
    try:
        if node.extra is not None and hasattr(node.extra, "run"):
            return node.extra.run(node, inputs)  # type: ignore[no-any-return]
        if isinstance(node.extra, ScopedModes):
            with node.extra.active():
                result: Any = invoke(node.op, node.attrs, inputs)
        else:
            result = invoke(node.op, node.attrs, inputs)
    except MXNetError as error:
        if node.span is None:
            raise
        raise MXNetError(f"{node.span}: {error}") from error
    return [result] if isinstance(result, NDArray) else result
