"""Creation nodes of unknown extents: recurrent cells begin with `zeros(shape=(0, 50))`, 0 standing for the batch.

Such a graph can be composed and saved, but to run it the extents must be inferred from the inputs and put in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.inference import infer_shapes
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.numpy_semantics import is_np_shape
from autohybrid.tensor.opdef import Shape
from autohybrid.tensor.shapes import is_known


def has_open_extents(heads: Sequence[Head]) -> bool:
    """Whether some node makes an array whose shape is not wholly given."""
    return any(_is_open(node) for node in depth_first(heads))


def close_extents(heads: Sequence[Head], known: Mapping[str, Shape]) -> list[Head]:
    """The same heads with the extents filled in that follow from the `known` shapes of variables.

    Raises MXNetError, naming the node, for an extent that does not follow.
    """
    nodes = depth_first(heads)
    if not any(_is_open(node) for node in nodes):
        return list(heads)
    facts = infer_shapes(heads, known)
    copies: dict[Node, Node] = {}
    for node in nodes:
        inputs = [(copies[source], index) for source, index in node.inputs]
        attrs: Any = node.attrs
        if _is_open(node):
            shape = facts[node, 0]
            if shape is None or not is_known(shape):
                raise MXNetError(f"the shape of `{node.name}` does not follow from those of the inputs: {dict(known)}")
            assert node.op is not None
            attrs = node.op.parse({**attrs.given, "shape": str(tuple(shape))})
        elif all(a == b for a, b in zip(inputs, node.inputs)):
            copies[node] = node
            continue
        copies[node] = Node(node.op, attrs, inputs, node.name, node.notes, node.span, node.extra)
    return [(copies[node], index) for node, index in heads]


def _is_open(node: Node) -> bool:
    shape = getattr(node.attrs, "shape", None) if node.op is not None and not node.inputs else None
    return isinstance(shape, tuple) and 0 in shape and not is_np_shape()
