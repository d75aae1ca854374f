"""A graph and its parameters as an ONNX model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from autohybrid import ndarray
from autohybrid.context import cpu
from autohybrid.errors import MXNetError
from autohybrid.files import write_atomically
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.node import Head, Node, depth_first
from autohybrid.graph.symbol import Symbol
from autohybrid.interop.onnx.arithmetic import ARITHMETIC
from autohybrid.interop.onnx.graph_writer import OPSET, Call, GraphWriter, load_onnx
from autohybrid.interop.onnx.layers import LAYERS, Converter
from autohybrid.interop.onnx.recurrent import RECURRENT
from autohybrid.interop.onnx.shaping import SHAPING
from autohybrid.version import __version__

Host = np.ndarray[Any, Any]
#: What each operator becomes, by its name.
OPERATORS: dict[str, Converter] = {**LAYERS, **ARITHMETIC, **SHAPING, **RECURRENT}


def export_onnx(symbol: Any, parameters: Mapping[str, Host], shapes: Mapping[str, tuple[int, ...]], path: str) -> None:
    """Write a symbol with its parameters (arguments and auxiliary states by name) as an ONNX model for prediction.

    `shapes` are those of the inputs, in float32. Labels of losses are left out. Raises MXNetError for a missing shape,
    and one that names every operator that has no counterpart.
    """
    onnx = load_onnx()
    heads = list(symbol._heads)
    order = _needed(heads)
    constant = _constant_nodes(order, parameters)
    _refuse_unknown([node for node in order if node not in constant])
    writer = GraphWriter(onnx, _value_names(order))
    known: dict[str, Any] = {name: array.shape for name, array in parameters.items()} | dict(shapes)
    inferred = infer_shapes(heads, known)
    dtypes = infer_dtypes(heads, {name: array.dtype.name for name, array in parameters.items()})
    inputs = []
    for node in order:
        if node in constant:
            _compute(writer, node, parameters)
        elif node.op is not None:
            _call(writer, node, inferred, dtypes)
        elif node.name in parameters:
            writer.add_initializer(node.name, parameters[node.name])
        elif node.name in shapes:
            inputs.append(_described(onnx, node.name, tuple(shapes[node.name]), "float32"))
        else:
            raise MXNetError(
                f"`{node.name}` is neither a parameter nor an input whose shape was given (`in_shapes`, or "
                f"`--shape {node.name}=1x3x224x224` on the command line)"
            )
    results = [
        _described(onnx, writer.names[head], tuple(inferred[head] or ()), dtypes[head] or "float32") for head in heads
    ]
    read = {name for written in writer.nodes for name in written.input}
    constants = [values for name, values in writer.initializers.items() if name in read]
    graph = onnx.helper.make_graph(writer.nodes, "autohybrid", inputs, results, constants)
    model = onnx.helper.make_model(
        graph,
        producer_name="autohybrid",
        producer_version=__version__,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    onnx.checker.check_model(model)
    write_atomically(path, model.SerializeToString())


def _needed(heads: list[Head]) -> list[Node]:
    """The nodes, without the labels that losses are given."""
    order = depth_first(heads)
    used = {source for node in order if node.op is not None for source, _ in _read_inputs(node)}
    return [node for node in order if node.op is not None or node in used]


def _constant_nodes(order: list[Node], parameters: Mapping[str, Host]) -> set[Node]:
    """The nodes that follow from parameters alone: the packed weights of a recurrent layer, a weight turned around."""
    fixed = {node for node in order if node.op is None and node.name in parameters}
    found: set[Node] = set()
    for node in order:
        is_pure = node.op is not None and node.inputs and not node.op.random
        if is_pure and all(source in fixed for source, _ in node.inputs):
            fixed.add(node)
            found.add(node)
    return found


def _compute(writer: GraphWriter, node: Node, parameters: Mapping[str, Host]) -> None:
    """The results of a node whose operands are known, as constants."""
    heads = [(node, index) for index in range(node.visible_count)]
    symbol = Symbol(heads)
    states = symbol.list_auxiliary_states()
    arrays = {name: ndarray.array(parameters[name], dtype=parameters[name].dtype) for name in symbol.list_inputs()}
    executor = symbol.bind(cpu(), arrays, aux_states={name: arrays.pop(name) for name in states})
    for head, result in zip(heads, executor.forward(is_train=False)):
        writer.add_initializer(writer.names[head], result.asnumpy())


def _read_inputs(node: Node) -> tuple[Head, ...]:
    return node.inputs[:1] if node.op is not None and node.op.name == "SoftmaxOutput" else node.inputs


def _refuse_unknown(order: list[Node]) -> None:
    unknown = sorted({node.op.name for node in order if node.op is not None and node.op.name not in OPERATORS})
    if unknown:
        raise MXNetError(f"there is no ONNX for {', '.join(unknown)}")


def _call(writer: GraphWriter, node: Node, shapes: Mapping[Head, Any], dtypes: Mapping[Head, str | None]) -> None:
    assert node.op is not None
    given = _read_inputs(node)
    outputs = [(node, index) for index in range(node.visible_count)]
    call = Call(
        writer,
        node,
        tuple(writer.names[head] for head in given),
        tuple(shapes[head] for head in given),
        tuple(dtypes[head] or "float32" for head in given),
        tuple(writer.names[head] for head in outputs),
        tuple(shapes[head] for head in outputs),
    )
    OPERATORS[node.op.name](call)


def _value_names(order: list[Node]) -> dict[Head, str]:
    """A name for each value: that of the variable, or MXNet's of the output, which blocks called twice share."""
    names: dict[Head, str] = {(node, 0): node.name for node in order if node.op is None}
    taken = set(names.values())
    for node in order:
        for index in range(node.visible_count if node.op is not None else 0):
            label = node.output_label(index)
            fresh = (f"{label}_{count}" if count else label for count in itertools.count())
            names[node, index] = next(name for name in fresh if name not in taken)
            taken.add(names[node, index])
    return names


def _described(onnx: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return onnx.helper.make_tensor_value_info(name, kind, list(shape))
