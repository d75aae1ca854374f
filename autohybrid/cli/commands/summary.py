"""Show what a model file holds: the layers of a graph, or the arrays of a parameter file, with their sizes.

autohybrid summary net-symbol.json --shape data=1x3x224x224
autohybrid summary net-symbol.json --params net-0000.params   parameters counted from the file (default: the one beside)
autohybrid summary net.params                                 also .npz and .safetensors
autohybrid summary model.onnx                                 as the graph that it is read as
"""

from __future__ import annotations

import argparse
import glob
import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from autohybrid.cli.parser import Parser
from autohybrid.cli.shapes import Shape, parse_shapes
from autohybrid.cli.terminal import get_width, has_colour, write_out
from autohybrid.config import SettingsError

Row = tuple[str, ...]
#: Columns of numbers, which are set to the right.
_NUMBERS = frozenset(("parameters", "elements", "size"))


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid summary`."""
    parser.add_argument("file", metavar="FILE", help="a -symbol.json, .onnx, .params, .npz or .safetensors file")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=SHAPE", help="shape of an input (data=1x3x224x224)"
    )
    parser.add_argument("--params", metavar="FILE", help="the parameters of the graph (default: NAME-*.params beside)")


def run(arguments: argparse.Namespace) -> int:
    """Print the table. Raises SettingsError for a file that cannot be read and shapes that do not fit."""
    from autohybrid.errors import MXNetError

    try:
        if arguments.file.endswith((".json", ".onnx")):
            shapes = parse_shapes(arguments.shape)
            headers, rows, totals = _of_graph(*_read_graph(arguments.file, shapes, arguments.params), shapes)
        elif arguments.shape or arguments.params:
            raise SettingsError("--shape and --params are for graphs; this is a file of arrays")
        else:
            headers, rows, totals = _of_arrays(arguments.file)
    except MXNetError as error:
        raise SettingsError(str(error)) from None
    write_out(_table(headers, rows) + "".join(f"{line}\n" for line in totals))
    return 0


# -- a file of arrays --------------------------------------------------------------------------------------------------
def _of_arrays(path: str) -> tuple[Row, list[Row], list[str]]:
    from autohybrid.interop.array_files import read_arrays

    rows: list[Row] = []
    elements = size = 0
    for name, array in read_arrays(path).arrays.items():
        count = math.prod(array.shape)
        taken = array.values.nbytes + sum(part.nbytes for part in array.aux)
        dtype = "bfloat16" if array.values.dtype.names else str(array.values.dtype)
        kind = dtype if array.stype == "default" else f"{dtype} {array.stype}"
        rows.append((name, "x".join(map(str, array.shape)) or "scalar", kind, f"{count:,}", _bytes(taken)))
        elements, size = elements + count, size + taken
    return (
        ("array", "shape", "dtype", "elements", "size"),
        rows,
        [f"{len(rows)} arrays, {elements:,} elements, {_bytes(size)}; the file takes {_bytes(os.path.getsize(path))}"],
    )


# -- a graph -----------------------------------------------------------------------------------------------------------
def _read_graph(path: str, shapes: Mapping[str, Shape], params: str | None) -> tuple[Any, dict[str, Shape]]:
    """The graph, and the shapes of its parameters as far as a file holds them."""
    from autohybrid import symbol

    if path.endswith(".onnx"):
        from autohybrid.interop.onnx import import_onnx

        if params is not None:
            raise SettingsError("--params is for -symbol.json files; a .onnx file holds its parameters")
        model = import_onnx(path, shapes)
        return model.symbol, {name: array.shape for name, array in {**model.arguments, **model.states}.items()}
    try:
        graph = symbol.load(path)
    except OSError as error:
        raise SettingsError(f"cannot read `{path}`: {error.strerror or error}") from None
    beside = sorted(glob.glob(f"{glob.escape(path.removesuffix('-symbol.json'))}-[0-9][0-9][0-9][0-9]*.params"))
    if params is None and len(beside) == 1 and path.endswith("-symbol.json"):
        params = beside[0]
    return graph, {} if params is None else _stored_shapes(params)


def _of_graph(graph: Any, stored: Mapping[str, Shape], shapes: Mapping[str, Shape]) -> tuple[Row, list[Row], list[str]]:
    inputs = graph.list_inputs()
    for name in shapes:
        if name not in inputs:
            raise SettingsError(f"the graph has no input `{name}`; it has {', '.join(inputs)}")
    given = {**{name: shape for name, shape in stored.items() if name in inputs}, **shapes}
    known = _known_shapes(graph, given)
    nodes = json.loads(graph.tojson())["nodes"]
    parameters = _parameters(nodes, shapes, stored)
    rows: list[Row] = []
    counted: set[str] = set()
    for node in nodes:
        if node["op"] == "null" and node["name"] in parameters:
            continue
        own = [nodes[entry[0]]["name"] for entry in node["inputs"]]
        weights = [name for name in own if name in parameters and name not in counted]
        counted.update(weights)
        before = ", ".join(name for name in own if name not in parameters)
        rows.append(
            (
                node["name"],
                "input" if node["op"] == "null" else node["op"],
                known.get(node["name"], "?"),
                _count(weights, known, bool(node["op"] == "null")),
                before,
            )
        )
    total = [_elements(known[name]) for name in parameters if "?" not in known.get(name, "?")]
    unknown = len(parameters) - len(total)
    line = f"{len(rows)} layers, {len(parameters)} parameter arrays with {sum(total):,} elements"
    line += f" and {unknown} of unknown size" if unknown else ""
    hint = "; `?` is not known without --shape NAME=SHAPE" if any("?" in row[2] for row in rows) else ""
    return ("layer", "operator", "output", "parameters", "from"), rows, [line + hint]


def _stored_shapes(path: str) -> dict[str, Shape]:
    from autohybrid.interop.array_files import read_arrays

    arrays = read_arrays(path).arrays
    return {name[4:] if name.startswith(("arg:", "aux:")) else name: array.shape for name, array in arrays.items()}


def _known_shapes(graph: Any, given: Mapping[str, Shape]) -> dict[str, str]:
    """Name of a variable or layer -> its shape, or shapes, as text; what is not known is `?`, or absent."""
    from autohybrid.errors import MXNetError

    internals = graph.get_internals()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is not known is shown as such
        try:
            arguments, outputs, states = internals.infer_shape_partial(**given)
        except MXNetError:
            if given:
                raise
            return {}  # some operators must know their inputs' shapes, and nothing was said about any
    found: dict[str, str] = {}
    for name, shape in zip(internals.list_outputs(), outputs or ()):
        layer = _layer_of(name)
        found[layer] = f"{found[layer]}, {_text(shape)}" if layer in found else _text(shape)
    found.update(zip(graph.list_arguments(), map(_text, arguments or ())))
    found.update(zip(graph.list_auxiliary_states(), map(_text, states or ())))
    return found


def _layer_of(output: str) -> str:
    """The layer that an output such as `fc_output` or `split_output1` belongs to; variables have their own name."""
    start, found, number = output.rpartition("_output")
    return start if found and (not number or number.isdigit()) else output


def _parameters(
    nodes: Sequence[Mapping[str, Any]], shapes: Mapping[str, Shape], stored: Mapping[str, Shape]
) -> list[str]:
    """The variables that are not inputs: those in the file if there is one, else those that are not a layer's data.

    A layer's first operand is its data; so is every variable whose shape was given, and every label.
    """
    variables = [node["name"] for node in nodes if node["op"] == "null"]
    if stored:
        return [name for name in variables if name in stored and name not in shapes]
    data = {nodes[node["inputs"][0][0]]["name"] for node in nodes if node["inputs"]}
    return [name for name in variables if name not in shapes and name not in data and not name.endswith("label")]


def _count(weights: Sequence[str], known: Mapping[str, str], is_input: bool) -> str:
    if is_input or not weights:
        return ""
    texts = [known.get(name, "?") for name in weights]
    return "?" if any("?" in text for text in texts) else f"{sum(map(_elements, texts)):,}"


def _elements(text: str) -> int:
    return math.prod(int(part) for part in text.split("x"))


# -- text --------------------------------------------------------------------------------------------------------------
def _text(shape: Sequence[int] | None) -> str:
    """A shape of a graph, where no axes and an extent of 0 mean that it is not known."""
    return "x".join("?" if extent < 1 else str(extent) for extent in shape or ()) or "?"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _table(headers: Row, rows: Sequence[Row]) -> str:
    """The rows in columns: with colours and frames on a terminal, as plain text elsewhere."""
    if has_colour("auto"):
        return _rich_table(headers, rows)
    widths = [max(map(len, column)) for column in zip(headers, *rows)]
    lines = []
    for row in (headers, tuple("-" * width for width in widths), *rows):
        cells = [
            cell.rjust(width) if header in _NUMBERS else cell.ljust(width)
            for cell, width, header in zip(row, widths, headers)
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _rich_table(headers: Row, rows: Sequence[Row]) -> str:
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    for header in headers:
        table.add_column(header, justify="right" if header in _NUMBERS else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=get_width()).print(table)
    return stream.getvalue()
