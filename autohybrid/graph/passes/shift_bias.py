"""The bias of a dense layer goes through the relu behind it, into the bias of the next dense layer.

    relu(x + b) = max(x, -b) + b, and so    relu(x @ W.T + b) @ V.T + c = max(x @ W.T, -b) @ V.T + (V @ b + c)

One pass over the hidden values less. Requires parameters that are known ahead. Moves results by the rounding of a bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autohybrid.graph.node import Head, Node, program_order
from autohybrid.graph.passes.rewriting import PlannedGraph, count_uses, rewritten
from autohybrid.tensor.attrs import Attrs
from autohybrid.tensor.opdef import OpDef
from autohybrid.tensor.templates import Elementwise


def _limit(name: str) -> OpDef:
    """The operator for the larger of each element and the limit of its column, by one of NumPy's functions."""

    def kernel(xp: Any, attrs: Attrs, x: Any, low: Any) -> Any:
        return getattr(xp, name)(x, low)

    def lines(call: Any) -> list[str]:
        return [f"{call.out} = {call.function(name)}({call.inputs[0]}, {call.inputs[1]}{call.into()})"]

    return OpDef(f"_limit_{name}", kernel, inputs=("data", "low"), fast=Elementwise(lines))


_KEEPS_NAN, _DROPS_NAN = _limit("maximum"), _limit("fmax")


def shift_bias(graph: PlannedGraph) -> PlannedGraph:
    """The graph with the biases of hidden dense layers moved."""
    movable = _movable(graph)
    shifts: dict[Node, Head] = {}

    def rule(node: Node) -> Sequence[Head] | None:
        if node.order in movable:
            dense = node.inputs[0][0]
            bias = dense.inputs[2]
            plain = _dense(graph, dense, dense.inputs[0], None)
            low = graph.prepare("low", _negative, [bias], graph.shapes[bias], graph.dtypes[bias])
            op = _limit_of(graph, node)
            limit = Node(op, op.parse({}), (plain, low), node.name, span=node.span)
            limit.order = node.order
            shifts[limit] = bias
            return [(limit, 0)]
        source = node.inputs[0][0] if node.inputs else None
        if source not in shifts:
            return None
        assert source is not None
        weight, *own = node.inputs[1:]
        shape = (graph.shapes[weight][0],)
        moved = graph.prepare("bias", _moved, [weight, shifts[source], *own], shape, graph.dtypes[weight])
        return [_dense(graph, node, node.inputs[0], moved)]

    return rewritten(graph, rule)


def _movable(graph: PlannedGraph) -> set[int]:
    """The rectifiers (by their place in the program) between dense layers, with nothing else reading there."""
    uses = count_uses(graph)
    nodes = program_order(graph.heads)
    readers: dict[Head, list[Node]] = {}
    for node in nodes:
        for head in node.inputs:
            readers.setdefault(head, []).append(node)
    found = set()
    for node in nodes:
        users = readers.get((node, 0), [])
        if not _is_rectifier(node) or uses[node.order, 0] != len(users) or not users:
            continue
        source = node.inputs[0][0]
        has_bias = _is_dense(graph, source) and len(source.inputs) == 3
        if has_bias and uses[source.order, 0] == 1 and all(_reads_rows(graph, user, (node, 0)) for user in users):
            found.add(node.order)
    return found


def _is_rectifier(node: Node) -> bool:
    if node.op is None or node.attrs is None or node.extra is not None:
        return False
    return node.op.name == "relu" or (node.op.name == "Activation" and bool(node.attrs.act_type == "relu"))


def _limit_of(graph: PlannedGraph, node: Node) -> OpDef:
    """What takes the place of a rectifier and treats NaN as it does."""
    assert node.op is not None
    drops = node.op.name == "Activation" and graph.dtypes[node, 0] == "float32"
    return _DROPS_NAN if drops else _KEEPS_NAN


def _is_dense(graph: PlannedGraph, node: Node) -> bool:
    if node.op is None or node.op.name != "FullyConnected" or node.extra is not None:
        return False
    return graph.dtypes[node, 0] in ("float32", "float64") and all(map(graph.is_prepared, node.inputs[1:]))


def _reads_rows(graph: PlannedGraph, node: Node, head: Head) -> bool:
    """Whether a dense layer reads `head` row by row."""
    if not _is_dense(graph, node) or node.inputs[0] != head:
        return False
    return bool(graph.shapes[head][-1] == graph.shapes[node.inputs[1]][1])


def _dense(graph: PlannedGraph, node: Node, data: Head, bias: Head | None) -> Head:
    """The dense layer `node` with another bias, or none."""
    assert node.op is not None and node.attrs is not None
    attrs = node.op.parse({**node.attrs.given, "no_bias": bias is None})
    inputs = (data, node.inputs[1]) if bias is None else (data, node.inputs[1], bias)
    changed = Node(node.op, attrs, inputs, node.name, node.notes, node.span)
    changed.order = node.order
    graph.shapes[changed, 0], graph.dtypes[changed, 0] = graph.shapes[node, 0], graph.dtypes[node, 0]
    return changed, 0


def _negative(bias: Any) -> Any:
    return -bias


def _moved(weight: Any, shift: Any, bias: Any = None) -> Any:
    """What `shift` in front of the weight comes to behind it, and the bias that is there."""
    result = weight.astype("float64") @ shift
    return (result if bias is None else result + bias).astype(weight.dtype)
