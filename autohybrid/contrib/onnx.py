"""`mx.onnx` and `mx.contrib.onnx`: models written as ONNX, and read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import symbol
from autohybrid.errors import MXNetError
from autohybrid.interop.onnx import OPERATORS, export_onnx, import_onnx, model_metadata

__all__ = ["export_model", "get_model_metadata", "get_operator_support", "import_model", "import_to_gluon"]


def export_model(
    sym: Any,
    params: Any,
    in_shapes: Sequence[tuple[int, ...]] | None = None,
    in_types: Any = np.float32,
    onnx_file_path: str = "model.onnx",
    verbose: bool = False,
    dynamic: bool = False,
    dynamic_input_shapes: Any = None,
    run_shape_inference: bool = False,
    input_type: Any = None,
    input_shape: Any = None,
) -> str:
    """Write a model as ONNX; gives the path. `in_shapes` are those of the inputs, in the order of the arguments.

    `sym` is a Symbol or a `-symbol.json` file, `params` a dict (with or without `arg:` and `aux:`), a list of the two
    dicts of a checkpoint, or a `.params` file. Inputs are float32 and have fixed shapes. Raises MXNetError for
    operators without a counterpart, and for `dynamic`.
    """
    if dynamic or dynamic_input_shapes:
        raise MXNetError("exported models have fixed shapes: dynamic and dynamic_input_shapes are not offered")
    types = input_type if input_type is not None else in_types
    if any(np.dtype(t) != np.float32 for t in (types if isinstance(types, (list, tuple)) else [types])):
        raise MXNetError(f"inputs of exported models are float32, not {types}")
    graph = symbol.load(os.fspath(sym)) if isinstance(sym, (str, os.PathLike)) else sym
    arrays = {name: array.asnumpy() for name, array in _parameters(params).items()}
    names = [name for name in graph.list_inputs() if name not in arrays]
    given = list(in_shapes if in_shapes is not None else input_shape or ())
    if len(given) > len(names):
        raise MXNetError(f"there are {len(given)} shapes for the inputs {names}")
    export_onnx(graph, arrays, {name: tuple(shape) for name, shape in zip(names, given)}, onnx_file_path)
    return onnx_file_path


def _parameters(params: Any) -> dict[str, Any]:
    if isinstance(params, (str, os.PathLike)):
        params = nd.load(os.fspath(params))
    found: dict[str, Any] = {}
    for part in [params] if isinstance(params, Mapping) else params:
        found.update({name.removeprefix("arg:").removeprefix("aux:"): array for name, array in part.items()})
    return found


def get_operator_support(opset_version: int | None = None) -> list[str]:
    """The names of the operators that can be written."""
    return sorted(OPERATORS)


def import_model(
    model_file: str | os.PathLike[str], shapes: Mapping[str, tuple[int, ...]] | None = None
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Read an ONNX model: the symbol, and the dicts of its arguments and auxiliary states.

    `shapes`, which MXNet has not, are those of the inputs, for models that leave them open and compute with them.
    Raises MXNetError for a file that is no model, and for operators that cannot be read.
    """
    model = import_onnx(os.fspath(model_file), shapes)
    return model.symbol, _held(model.arguments), _held(model.states)


def import_to_gluon(
    model_file: str | os.PathLike[str], ctx: Any = None, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> Any:
    """Read an ONNX model as a SymbolBlock with its parameters on `ctx`. Raises MXNetError as `import_model` does."""
    from autohybrid.gluon import SymbolBlock

    model = import_onnx(os.fspath(model_file), shapes)
    block = SymbolBlock(model.symbol, [symbol.var(name) for name in model.inputs])
    parameters = block.collect_params()
    for name, values in {**model.arguments, **model.states}.items():
        parameters[name].dtype = values.dtype
        parameters[name].shape = values.shape
        parameters[name].initialize(ctx=ctx)
        parameters[name].set_data(nd.array(values, dtype=values.dtype))
    return block


def get_model_metadata(model_file: str | os.PathLike[str]) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """Names and shapes of a model's inputs and outputs, as `input_tensor_data` and `output_tensor_data`.

    Extents that the model leaves open are 0. Raises MXNetError for a file that is no model.
    """
    return model_metadata(os.fspath(model_file))


def _held(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: nd.array(values, dtype=values.dtype) for name, values in arrays.items()}
