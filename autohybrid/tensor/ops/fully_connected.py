"""FullyConnected: the dense layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.tensor.attrs import Attr, Attrs
from autohybrid.tensor.opdef import GradNode, OpDef, Sample, Shape, Shapes
from autohybrid.tensor.packing import product_lines
from autohybrid.tensor.precision import narrow, widen
from autohybrid.tensor.shapes import same_floating, unify


def _inputs(attrs: Attrs) -> tuple[str, ...]:
    return ("data", "weight") if attrs.no_bias else ("data", "weight", "bias")


def _infer_shape(attrs: Attrs, ins: Shapes, outs: Shapes) -> tuple[Sequence[Shape], Sequence[Shape]]:
    units = attrs.num_hidden
    if units < 1:
        raise MXNetError(f"`num_hidden` must be positive, got {units}")
    data, weight = ins[0], unify(ins[1], (units, -1))
    if data is None:
        return ins, outs  # nothing follows before the rank of the data is known, as in MXNet
    assert weight is not None
    width = data[1:] if attrs.flatten else data[-1:]
    if -1 not in width:
        weight = unify(weight, (units, math.prod(width)))
    elif (attrs.flatten and len(data) == 2) or not attrs.flatten:
        data = (*data[:-1], weight[1])
    output: Shape = unify((data[0], units) if attrs.flatten else (*data[:-1], units), outs[0])
    if output is not None:
        data = (output[0], *data[1:]) if attrs.flatten else (*output[:-1], data[-1])
    known = [data, weight] if attrs.no_bias else [data, weight, unify(ins[2], (units,))]
    return known, [output]


def _kernel(xp: Any, attrs: Attrs, data: Any, weight: Any, bias: Any = None) -> Any:
    x, w = widen(xp, data, weight)
    if attrs.flatten and x.ndim != 2:
        x = x.reshape(x.shape[0], math.prod(x.shape[1:]))
    # As a matrix: the library multiplies arrays of more axes row by row.
    result = xp.dot(x.reshape(math.prod(x.shape[:-1]), x.shape[-1]), w.T)
    if bias is not None:
        result += bias
    return narrow(result.reshape(*x.shape[:-1], w.shape[0]), data)


def _fast(call: Any) -> list[str] | None:
    """A product of matrices, the bias added in place."""
    if call.out_dtype not in ("float32", "float64"):
        return None
    data, shape = call.inputs[0], call.shapes[0]
    units, width = call.shapes[1]
    rows = shape[0] if call.attrs.flatten else math.prod(shape[:-1])
    if len(shape) != 2:
        data = f"{data}.reshape({rows}, {width})"
    name = call.memory((rows, units))
    is_fresh = name is None
    name = call.out if name is None else name
    lines = product_lines(call, data, 1, rows, width, units, name, is_fresh)
    if not call.attrs.no_bias:
        lines.append(f"{call.function('add')}({name}, {call.inputs[2]}, {name})")
    if len(call.out_shape) != 2:
        lines.append(f"{call.out} = {name}.reshape({call.out_shape})")
    elif name != call.out:
        lines.append(f"{call.out} = {name}")
    return lines


def _cut_rows(attrs: Attrs, ins: Shapes) -> tuple[int, ...]:
    return (0,) if ins[0] is not None and len(ins[0]) > 1 else ()


def _flops(attrs: Attrs, ins: Shapes, out: tuple[int, ...]) -> int:
    weight = ins[1]
    return 0 if weight is None else 2 * math.prod(out) * weight[1]


def _grad(F: Any, node: GradNode, heads: Sequence[Any]) -> list[Any]:
    data, weight = node.inputs[:2]
    rows = F.Reshape(heads[0], shape=(-1, 0), reverse=True)
    flat = F.Flatten(data) if node.attrs.flatten else F.Reshape(data, shape=(-1, 0), reverse=True)
    gradients = [
        F.reshape_like(F.dot(rows, weight), data) if node.needs(0) else None,
        F.dot(rows, flat, transpose_a=True) if node.needs(1) else None,
    ]
    return gradients if node.attrs.no_bias else [*gradients, F.sum(rows, axis=0)]


OPERATORS = (
    OpDef(
        "FullyConnected",
        _kernel,
        inputs=("data", "weight", "bias"),
        attrs=(Attr("num_hidden", "int"), Attr("no_bias", "bool", False), Attr("flatten", "bool", True)),
        active_inputs=_inputs,
        infer_shape=_infer_shape,
        infer_dtype=same_floating,
        grad=_grad,
        fast=_fast,
        by_rows=_cut_rows,
        flops=_flops,
        aliases=("_npx_fully_connected", "_sparse_FullyConnected"),
        doc="""`data @ weight.T + bias`, weight of shape (num_hidden, width), bias of shape (num_hidden,).

        With `flatten` data of shape (n, ...) is seen as (n, width) and the output is (n, num_hidden);
        without, the last axis is the width and the output is (..., num_hidden).""",
        samples=(
            Sample(((4, 5), (3, 5), (3,)), {"num_hidden": 3}),
            Sample(((1, 1), (1, 1)), {"num_hidden": 1, "no_bias": True}),
            Sample(((3, 2, 7), (2, 14), (2,)), {"num_hidden": 2}),
            Sample(((3, 2, 7), (2, 7), (2,)), {"num_hidden": 2, "flatten": False}),
            Sample(((5,), (3, 5), (3,)), {"num_hidden": 3, "flatten": False}),
            Sample(((0, 5), (3, 5), (3,)), {"num_hidden": 3}),
            Sample(((4, 5), (3, 6), (3,)), {"num_hidden": 3}, error="MXNetError"),
        ),
    ),
)
