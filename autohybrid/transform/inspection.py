"""Build the graph of a block from a file for inspection: its class is imported, made and called once."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autohybrid.errors import MXNetError
from autohybrid.graph.function import GraphFunction
from autohybrid.graph.inference import infer_dtypes, infer_shapes
from autohybrid.graph.svg import graph_svg
from autohybrid.graph.text import graph_dot, graph_text


@dataclass(frozen=True, slots=True)
class InspectedGraph:
    """One graph of a hybridized block: as text, as DOT, as an SVG picture, and the source of its executor."""

    text: str
    dot: str
    svg: str
    executor: str


def load_module(path: str) -> ModuleType:
    """Import a file as a module. Raises OSError when it is not there, and what the file itself raises."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    name = f"autohybrid_inspected_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise MXNetError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.resolve().parent))
    return module


def call_of(module: ModuleType, class_name: str, inputs: Sequence[Any]) -> tuple[Any, tuple[Any, ...]] | None:
    """A block and the arguments of one call: from `example()` of the module, or `class_name()` and `inputs`.

    None when the module has no `example` and no inputs were given. Raises MXNetError when the class is not there.
    """
    example = getattr(module, "example", None)
    if not inputs and callable(example):
        import autohybrid

        block, calls = example(autohybrid) if example.__code__.co_argcount else example()
        return block, tuple(calls[0])
    if not inputs:
        return None
    cls = getattr(module, class_name, None)
    if cls is None:
        raise MXNetError(f"the file defines no class `{class_name}`")
    return cls(), tuple(inputs)


def inspect_block(block: Any, args: tuple[Any, ...]) -> InspectedGraph:
    """Initialise, hybridize and call the block once, and show the graph that served the call."""
    block.initialize()
    block.hybridize()
    block(*args)
    if block._compiled is None or not block._compiled.entries:
        raise MXNetError(f"{type(block).__name__} ran imperatively: it has no graph")
    return show_function(next(iter(block._compiled.entries.values())).function)


def show_function(function: GraphFunction) -> InspectedGraph:
    """A graph that has been called, in every form."""
    (signature, _), code = next(iter(function._code.items()))
    shapes = {name: tuple(shape) for name, (shape, _) in zip(function.inputs, signature)}
    dtypes = {name: dtype.name for name, (_, dtype) in zip(function.inputs, signature)}
    for name, array in zip(function.captured, function.captured_arrays()):
        shapes[name], dtypes[name] = array._data.shape, array._data.dtype.name
    known_shapes = infer_shapes(function.all_heads, shapes)
    known_dtypes = infer_dtypes(function.all_heads, dtypes)
    text = graph_text(function.all_heads, known_shapes, known_dtypes)
    text += f"\n# {_dependence(function)}"
    dot = graph_dot(function.all_heads, known_shapes)
    svg = graph_svg(function.all_heads, known_shapes, function.inputs, known_dtypes)
    return InspectedGraph(text, dot, svg, code.source)  # type: ignore[attr-defined]


def _dependence(function: GraphFunction) -> str:
    """Which calls a graph serves, in words."""
    if not function.read_places:
        return "reads nothing of its inputs: one graph for every signature, and portable when exported"
    places = [f"{fact}{'' if span is None else f' at line {span.line}'}" for fact, span in function.read_places.items()]
    return f"depends on what the code reads of its inputs: {', '.join(places)}"
