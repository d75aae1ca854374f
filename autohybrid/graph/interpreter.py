"""The plain executor: run a graph node by node on NDArrays. The reference that every other executor is compared with.

Calls go through the imperative front end, so recording, train mode and random numbers behave as in imperative code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.inference import infer_shapes
from autohybrid.graph.modes import ScopedModes
from autohybrid.graph.node import Head, Node, program_order
from autohybrid.tensor.array import NDArray
from autohybrid.tensor.imperative import invoke
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.shapes import is_known

Monitor = Callable[[str, NDArray], None]


def run(
    heads: Sequence[Head],
    feed: Mapping[str, NDArray],
    monitor: Monitor | None = None,
    order: Sequence[Node] | None = None,
    monitor_inputs: bool = False,
) -> list[NDArray]:
    """The values of `heads` for variables fed by name. `order` saves sorting the nodes again.

    `monitor` is called with the name and value of each output; with `monitor_inputs` also of each input of an operator,
    variables under their own name first.

    Raises MXNetError, naming the user's line where it is known, for a missing variable or a call that fails.
    """
    values: dict[Head, NDArray] = {}
    nodes = program_order(heads) if order is None else order
    resolved = _resolved_shapes(heads, nodes, feed)
    for node in nodes:
        if node.op is None:
            if node.name not in feed:
                raise MXNetError(f"variable `{node.name}` was given no value")
            values[node, 0] = feed[node.name]
            continue
        if monitor is not None and monitor_inputs:
            for head, name in zip(node.inputs, node.input_names()):
                for label in (head[0].name, f"{node.name}_{name}")[not head[0].is_variable :]:
                    monitor(label, values[head])
        node_run = resolved.get(node, node)
        for index, value in enumerate(run_node(node_run, [values[h] for h in node.inputs])):
            values[node, index] = value
            if monitor is not None:
                monitor(node.output_label(index), value)
    return [values[h] for h in heads]


def _resolved_shapes(heads: Sequence[Head], nodes: Sequence[Node], feed: Mapping[str, NDArray]) -> dict[Node, Node]:
    """Nodes that make an array of a shape with an open extent (0, as in the zeros of an initial state, or -1),
    with it inferred."""
    open_nodes = [
        n for n in nodes if n.op is not None and not n.inputs and is_open(getattr(n.attrs, "shape", None) or ())
    ]
    if not open_nodes:
        return {}
    facts = infer_shapes(heads, {name: tuple(array.shape) for name, array in feed.items()})
    return {node: _with_shape(node, facts[node, 0]) for node in open_nodes if is_known(facts[node, 0])}


def is_open(shape: Sequence[int]) -> bool:
    """Whether an extent is left to inference."""
    return 0 in shape or -1 in shape


def _with_shape(node: Node, shape: Shape) -> Node:
    assert node.op is not None and node.attrs is not None
    attrs = node.op.parse({**node.attrs.given, "shape": shape})
    return Node(node.op, attrs, (), node.name, node.notes, node.span, node.extra)


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
