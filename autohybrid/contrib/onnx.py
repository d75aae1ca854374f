"""`mx.onnx` and `mx.contrib.onnx`: writing models as ONNX. Reading them is not offered."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from autohybrid import ndarray as nd
from autohybrid import symbol
from autohybrid.errors import MXNetError
from autohybrid.interop.onnx import OPERATORS, export_onnx

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


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises MXNetError: ONNX files cannot be read."""
    raise MXNetError("ONNX files cannot be read; run them with onnxruntime")


import_model = import_to_gluon = get_model_metadata = _refuse
