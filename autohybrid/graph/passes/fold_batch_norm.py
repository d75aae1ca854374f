"""BatchNorm outside training becomes part of the convolution before it, else one product and one sum.

    bn(x) = x * scale + shift,    scale = gamma / sqrt(var + eps),    shift = beta - mean * scale
    bn(conv(x, w) + b) = conv(x, w * scale) + (b * scale + shift)

Requires parameters that are known ahead of a call, and float32 or float64. Rounds differently than BatchNorm itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autohybrid.graph.node import Head, Node
from autohybrid.graph.passes.rewriting import PlannedGraph, count_uses, rewritten
from autohybrid.tensor.ops import get_operator
from autohybrid.tensor.shapes import is_known

_NAMES = ("BatchNorm", "BatchNorm_v1")
_CONVOLUTIONS = ("Convolution", "Convolution_v1")


def fold_batch_norm(graph: PlannedGraph) -> PlannedGraph:
    """The graph without BatchNorm calls that use moving statistics."""
    uses = count_uses(graph)

    def rule(node: Node) -> Sequence[Head] | None:
        if not _is_foldable(graph, node, uses):
            return None
        scale, shift = _scale_and_shift(graph, node)
        source, index = node.inputs[0]
        if _axis(graph, node) == 1 and uses[source.order, index] == 1 and _is_convolution(graph, source):
            return [_scaled_convolution(graph, node, source, scale, shift)]
        return [_product_and_sum(graph, node, scale, shift)]

    return rewritten(graph, rule)


def _axis(graph: PlannedGraph, node: Node) -> int:
    return int(getattr(node.attrs, "axis", 1) % len(graph.shapes[node, 0]))


def _is_foldable(graph: PlannedGraph, node: Node, uses: dict[tuple[int, int], int]) -> bool:
    if node.op is None or node.op.name not in _NAMES or node.attrs is None:
        return False
    shape = graph.shapes[node, 0]
    if (graph.train and not node.attrs.use_global_stats) or node.attrs.output_mean_var or not is_known(shape):
        return False
    if uses.get((node.order, 1)) or uses.get((node.order, 2)) or len(shape) < 2 or 0 in shape:
        return False
    dtypes = {graph.dtypes[h] for h in node.inputs}
    return len(dtypes) == 1 and dtypes <= {"float32", "float64"} and all(map(graph.is_prepared, node.inputs[1:]))


def _is_convolution(graph: PlannedGraph, node: Node) -> bool:
    if node.op is None or node.op.name not in _CONVOLUTIONS or node.attrs is None:
        return False
    layout = node.attrs.layout
    return (layout is None or layout[1] == "C") and all(map(graph.is_prepared, node.inputs[1:]))


def _scale_and_shift(graph: PlannedGraph, node: Node) -> tuple[Head, Head]:
    """The prepared factors and summands of the channels."""
    attrs = node.attrs
    assert attrs is not None
    _, gamma, beta, mean, variance = node.inputs
    shape, dtype = graph.shapes[beta], graph.dtypes[beta]
    scale = graph.prepare(f"{node.name}_scale", _scale, [gamma, variance], shape, dtype, attrs.eps, attrs.fix_gamma)
    shift = graph.prepare(f"{node.name}_shift", _shift, [beta, mean, scale], shape, dtype)
    return scale, shift


def _scaled_convolution(graph: PlannedGraph, node: Node, source: Node, scale: Head, shift: Head) -> Head:
    assert source.op is not None and source.attrs is not None
    data, weight, *bias = source.inputs
    shape, dtype = graph.shapes[weight], graph.dtypes[weight]
    scaled = graph.prepare(f"{source.name}_weight", scaled_weight, [weight, scale], shape, dtype)
    added = shift
    if bias:
        added = graph.prepare(f"{source.name}_bias", _scaled_bias, [*bias, scale, shift], graph.shapes[shift], dtype)
    attrs = source.op.parse({**source.attrs.values(), "no_bias": False})
    return _placed(graph, node, Node(source.op, attrs, [data, scaled, added], source.name, span=source.span))


def _product_and_sum(graph: PlannedGraph, node: Node, scale: Head, shift: Head) -> Head:
    shape, dtype = graph.shapes[node, 0], graph.dtypes[node, 0]
    axis = _axis(graph, node)
    ones = tuple(n if k == axis else 1 for k, n in enumerate(shape))
    factor, summand = (graph.prepare(f"{h[0].name}_row", np.reshape, [h], ones, dtype, ones) for h in (scale, shift))
    multiply, add = get_operator("broadcast_mul"), get_operator("broadcast_add")
    product = Node(multiply, multiply.parse({}), [node.inputs[0], factor], f"{node.name}_product", span=node.span)
    scaled = _placed(graph, node, product)
    return _placed(graph, node, Node(add, add.parse({}), [scaled, summand], node.name, span=node.span))


def _placed(graph: PlannedGraph, place: Node, new: Node) -> Head:
    """`new` at the place of another node in the program, with the shape and dtype of that node's output."""
    new.order = place.order
    graph.shapes[new, 0], graph.dtypes[new, 0] = graph.shapes[place, 0], graph.dtypes[place, 0]
    return new, 0


def _scale(gamma: Any, variance: Any, eps: float, fix_gamma: bool) -> Any:
    inverse = 1 / np.sqrt(variance.astype("float64") + eps)
    return (inverse if fix_gamma else gamma * inverse).astype(variance.dtype)


def _shift(beta: Any, mean: Any, scale: Any) -> Any:
    return beta - mean * scale


def scaled_weight(weight: Any, scale: Any) -> Any:
    """Each filter of a weight (filters, ...) times its scale."""
    return weight * scale.reshape(-1, *[1] * (weight.ndim - 1))


def _scaled_bias(bias: Any, scale: Any, shift: Any) -> Any:
    return bias * scale + shift
