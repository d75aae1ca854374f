"""An ONNX model as a symbol and its parameters.

What follows from constants alone - shapes that a model computes, weights that it turns around - is computed while it is
read, by the reference implementation of the package `onnx`; everything else becomes operators, by the tables of the
files `read_*.py`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from autohybrid.errors import MXNetError
from autohybrid.graph.compose import Group, var
from autohybrid.graph.node import Node
from autohybrid.graph.symbol import Symbol
from autohybrid.interop.onnx.graph_writer import load_onnx
from autohybrid.interop.onnx.read_arithmetic import ARITHMETIC
from autohybrid.interop.onnx.read_layers import LAYERS
from autohybrid.interop.onnx.read_products import PRODUCTS
from autohybrid.interop.onnx.read_recurrent import RECURRENT
from autohybrid.interop.onnx.read_shaping import SHAPING
from autohybrid.interop.onnx.reader import Host, OnnxCall, Reading, Values
from autohybrid.naming import Prefix

#: How each ONNX operator is read, by its name.
READERS: dict[str, Reading] = {**LAYERS, **ARITHMETIC, **PRODUCTS, **SHAPING, **RECURRENT}
#: Their results are drawn anew at each call, so they are never constants.
_RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
#: A constant above this size stays an operator's result: it would only make the parameters larger.
_LARGEST_CONSTANT = 1 << 26


@dataclass(frozen=True, slots=True)
class ImportedModel:
    """A symbol, and the values of its arguments and auxiliary states by name."""

    symbol: Symbol
    arguments: dict[str, Host]
    states: dict[str, Host]
    inputs: tuple[str, ...]


def import_onnx(path: str, shapes: Mapping[str, tuple[int, ...]] | None = None) -> ImportedModel:
    """Read an ONNX model. `shapes` are those of the inputs where the model leaves them open, or to use others.

    Raises MXNetError for a file that is no model, an unknown input in `shapes`, and operators that cannot be read; all
    unknown ones are named at once.
    """
    model = _load(path)
    graph = model.graph
    _refuse_unknown(graph)
    values = Values(load_onnx())
    for tensor in graph.initializer:
        values.arrays[tensor.name] = _array(values.onnx, tensor, path)
    inputs = _inputs(values.onnx, graph)
    unknown = [name for name in shapes or () if name not in inputs]
    if unknown:
        raise MXNetError(f"the model has no input `{unknown[0]}`; it has {', '.join(inputs)}")
    for name, (shape, dtype) in inputs.items():
        given = tuple((shapes or {}).get(name, shape))
        values.symbols[name] = values.known(var(name, shape=given if given else None, dtype=dtype))
    opset = max((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), default=1)
    _read_nodes(values, graph.node, opset)
    heads = [values.symbol(output.name) for output in graph.output]
    symbol = heads[0] if len(heads) == 1 else Group(heads)
    states = symbol.list_auxiliary_states()
    used = set(symbol.list_inputs())
    arguments = {n: v for n, v in values.parameters.items() if n in used and n not in states}
    return ImportedModel(symbol, arguments, {n: values.parameters[n] for n in states}, tuple(inputs))


def model_metadata(path: str) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Names and shapes of a model's inputs and outputs; extents that it leaves open are 0."""
    graph = _load(path).graph
    onnx = load_onnx()
    outputs = [(output.name, _declared(onnx, output)[0]) for output in graph.output]
    return {
        "input_tensor_data": [(name, shape) for name, (shape, _) in _inputs(onnx, graph).items()],
        "output_tensor_data": outputs,
    }


def _load(path: str) -> Any:
    onnx = load_onnx("reading")
    if not os.path.exists(path):
        raise MXNetError(f"cannot read `{path}`: there is no such file")
    undecodable = importlib.import_module("google.protobuf.message").DecodeError  # onnx is made with that package
    try:
        model = onnx.load(path)
    except undecodable as error:
        raise MXNetError(f"`{path}` is not an ONNX model") from error
    except OSError as error:
        raise MXNetError(f"cannot read `{path}`: {error.strerror or error}") from error
    if not model.graph.output:
        raise MXNetError(f"`{path}` is not an ONNX model: it has no outputs")
    return model


def _array(onnx: ModuleType, tensor: Any, path: str) -> Host:
    return np.asarray(onnx.numpy_helper.to_array(tensor, os.path.dirname(os.path.abspath(path))))


def _inputs(onnx: ModuleType, graph: Any) -> dict[str, tuple[tuple[int, ...], str]]:
    """The inputs that are not parameters: older models list those, too."""
    constants = {tensor.name for tensor in graph.initializer}
    return {each.name: _declared(onnx, each) for each in graph.input if each.name not in constants}


def _declared(onnx: ModuleType, value: Any) -> tuple[tuple[int, ...], str]:
    described = value.type.tensor_type
    shape = tuple(int(axis.dim_value) for axis in described.shape.dim)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(described.elem_type) if described.elem_type else np.dtype("float32")
    return shape, "float32" if dtype == np.bool_ else dtype.name


def _refuse_unknown(graph: Any) -> None:
    unknown = {node.op_type: node for node in graph.node if node.op_type not in READERS and not _is_foldable(node)}
    if unknown:
        named = ", ".join(f"{kind} (`{node.name or node.output[0]}`)" for kind, node in sorted(unknown.items()))
        raise MXNetError(
            f"the model has operators that cannot be read: {named}; run it with onnxruntime, or export it with other "
            "operators"
        )


def _is_foldable(node: Any) -> bool:
    return node.op_type in ("Constant", "ConstantOfShape", "Range", "Shape", "Size", "If", "EyeLike")


def _read_nodes(values: Values, nodes: Sequence[Any], opset: int) -> None:
    taken: set[str] = set()
    for node in nodes:
        name = node.name if node.name and node.name not in taken else node.output[0]
        taken.add(name)
        if node.op_type == "If":
            _read_branch(values, node, opset)
            continue
        if _fold(values, node, opset):
            continue
        attributes = {each.name: values.onnx.helper.get_attribute_value(each) for each in node.attribute}
        call = OnnxCall(values, node.op_type, name, tuple(node.input), tuple(node.output), attributes, opset)
        _read(call)


def _read(call: OnnxCall) -> None:
    before = set(call.values.shapes)
    reading = READERS.get(call.kind)
    if reading is None:
        raise call.refuse("it must follow from constants; give the shape of every input, from which it may")
    try:
        with Prefix(f"{call.name}_"):
            result = reading(call)
        results = [result] if isinstance(result, Symbol) else list(result)
        made = [call.values.known(each)._heads[0] for each in results]
    except MXNetError as error:
        if call.kind in str(error) and call.name in str(error):
            raise
        raise call.refuse(str(error)) from error
    renamed: dict[Node, Node] = {}
    for head, output in zip(made, call.outputs):
        if output:
            call.values.symbols[output] = call.values.known(_named(head, call.name, before, renamed))


def _named(head: Any, name: str, before: set[Any], renamed: dict[Node, Node]) -> Symbol:
    """The last operator of a call has the call's name, which files written from the symbol keep."""
    node, index = head
    if node.op is None or (node, 0) in before:
        return Symbol([head])
    if node not in renamed:
        own = name if not renamed else f"{name}_{len(renamed)}"
        renamed[node] = Node(node.op, node.attrs, node.inputs, own, node.notes, node.span, node.extra)
    return Symbol([(renamed[node], index)])


def _fold(values: Values, node: Any, opset: int) -> bool:
    """Compute a node whose operands are constant, and shapes that are known. False where that cannot be."""
    if node.op_type in ("Shape", "Size") and node.input[0] not in values.arrays:
        shape = values.shape(values.symbol(node.input[0]))
        if shape is None or -1 in shape:
            return False
        stand_in = np.broadcast_to(np.float32(0), shape)
        operands = {node.input[0]: stand_in}
    elif node.op_type in _RANDOM or not all(name in values.arrays for name in node.input if name):
        return False
    else:
        operands = {name: values.arrays[name] for name in node.input if name}
    from onnx.reference import ReferenceEvaluator

    results = ReferenceEvaluator(node, opsets={"": opset}).run(None, operands)
    if sum(np.asarray(each).size for each in results) > _LARGEST_CONSTANT and node.op_type in READERS:
        return False
    values.arrays.update({name: np.asarray(each) for name, each in zip(node.output, results) if name})
    return True


def _read_branch(values: Values, node: Any, opset: int) -> None:
    """A condition that is known chooses the branch, which is read in its place."""
    condition = values.arrays.get(node.input[0])
    if condition is None:
        raise MXNetError(
            f"ONNX operator If (`{node.name or node.output[0]}`) cannot be read: its condition `{node.input[0]}` is "
            "computed when the model runs; give the shape of every input, from which it may follow"
        )
    wanted = "then_branch" if bool(condition.ravel()[0]) else "else_branch"
    branch = next(each.g for each in node.attribute if each.name == wanted)
    _refuse_unknown(branch)
    for tensor in branch.initializer:
        values.arrays[tensor.name] = np.asarray(values.onnx.numpy_helper.to_array(tensor))
    _read_nodes(values, branch.node, opset)
    for inner, outer in zip(branch.output, node.output):
        if inner.name in values.arrays:
            values.arrays[outer] = values.arrays[inner.name]
        else:
            values.symbols[outer] = values.symbol(inner.name)
