"""Convert a model or its parameters: export pairs, .params, .npz, .safetensors and .onnx.

autohybrid convert net-symbol.json net.safetensors   a graph and its parameters into one file
autohybrid convert net.safetensors new-symbol.json   and back: writes new-symbol.json and new-0000.params
autohybrid convert net.params net.npz                parameters alone; the names stay
autohybrid convert net-symbol.json net.onnx --shape data=1x3x224x224   for other run times
autohybrid convert model.onnx net-symbol.json        a model of another framework: writes net-0000.params too
autohybrid convert net-0003.params net.npz --names plain   without the `arg:` and `aux:` of exported files
"""

from __future__ import annotations

import argparse
import glob
import os
from dataclasses import replace
from typing import Any

from autohybrid.cli.parser import Parser, one_of
from autohybrid.cli.shapes import parse_shapes
from autohybrid.cli.terminal import say
from autohybrid.config import SettingsError

_SYMBOL = "-symbol.json"
_ONNX = ".onnx"
_KINDS = ("arg:", "aux:")


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid convert`."""
    parser.add_argument("source", metavar="FROM", help="a NAME-symbol.json, .params, .npz, .safetensors or .onnx file")
    parser.add_argument("target", metavar="TO", help="the file to write, of one of the same kinds")
    parser.add_argument("--params", metavar="FILE", help="the parameters of NAME-symbol.json (default: NAME-*.params)")
    parser.add_argument("--epoch", type=int, default=0, help="the number in the name of a .params file written (0)")
    parser.add_argument(
        "--names",
        default="keep",
        type=one_of("keep", "plain"),
        help="plain: without the `arg:` and `aux:` in front of exported names",
    )
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=SHAPE", help="shape of an input, for .onnx files"
    )
    parser.add_argument("--force", action="store_true", help="write over files that exist")


def run(arguments: argparse.Namespace) -> int:
    """Read, convert, write. Raises SettingsError for what cannot be read, held or overwritten."""
    from autohybrid.errors import MXNetError

    if arguments.epoch < 0:
        raise SettingsError("--epoch is a number of at least 0")
    try:
        graph, content = _read(arguments)
        if arguments.names == "plain":
            content = replace(content, arrays=_plain(content.arrays))
        if arguments.target.endswith(_ONNX):
            written = _write_onnx(arguments, graph, content)
        else:
            written = _write(arguments, graph, content)
    except MXNetError as error:
        raise SettingsError(str(error)) from None
    say(f"wrote {' and '.join(written)}: {len(content.arrays)} arrays")
    return 0


def _read(arguments: argparse.Namespace) -> tuple[str | None, Any]:
    """The text of the graph, if there is one, and the arrays."""
    from autohybrid.interop.array_files import read_arrays

    source = arguments.source
    if source.endswith(_ONNX):
        return _read_onnx(source, parse_shapes(arguments.shape))
    if not source.endswith(_SYMBOL):
        content = read_arrays(source)
        return content.metadata.get("symbol"), content
    content = read_arrays(arguments.params or _parameters_of(source))
    return _graph(source), content


def _read_onnx(source: str, shapes: dict[str, tuple[int, ...]]) -> tuple[str, Any]:
    from autohybrid.interop.array_files import ArrayFile
    from autohybrid.interop.onnx import import_onnx
    from autohybrid.tensor.params_file import StoredArray

    model = import_onnx(source, shapes)
    named = {f"arg:{name}": values for name, values in model.arguments.items()}
    named.update({f"aux:{name}": values for name, values in model.states.items()})
    content = ArrayFile({name: StoredArray(values.shape, values) for name, values in named.items()})
    return model.symbol.tojson(), content


def _graph(source: str) -> str:
    """The graph as MXNet 1.9.1 writes it, whatever version wrote the file."""
    from autohybrid import symbol

    try:
        text: str = symbol.load(source).tojson()
    except OSError as error:
        raise SettingsError(f"cannot read `{source}`: {error.strerror or error}") from None
    return text


def _parameters_of(source: str) -> str:
    """The parameter file that lies beside a graph."""
    found = sorted(glob.glob(f"{glob.escape(source.removesuffix(_SYMBOL))}-[0-9][0-9][0-9][0-9]*.params"))
    if len(found) != 1:
        named = f"several parameter files: {', '.join(found)}" if found else "no parameter file"
        raise SettingsError(f"beside `{source}` there is {named}; say which with --params FILE")
    return found[0]


def _plain(arrays: dict[str, Any]) -> dict[str, Any]:
    plain = {name[4:] if name.startswith(_KINDS) else name: array for name, array in arrays.items()}
    if len(plain) != len(arrays):
        raise SettingsError("without `arg:` and `aux:` two arrays would have the same name; use --names keep")
    return plain


def _write_onnx(arguments: argparse.Namespace, graph: str | None, content: Any) -> list[str]:
    from autohybrid import symbol
    from autohybrid.interop.onnx import export_onnx

    if graph is None:
        raise SettingsError(f"`{arguments.source}` holds no graph, so `{arguments.target}` cannot be written")
    if os.path.exists(arguments.target) and not arguments.force:
        raise SettingsError(f"`{arguments.target}` exists; --force writes over it")
    parameters = {name: stored.values for name, stored in _plain(content.arrays).items()}
    export_onnx(symbol.load_json(graph), parameters, parse_shapes(arguments.shape), arguments.target)
    return [arguments.target]


def _write(arguments: argparse.Namespace, graph: str | None, content: Any) -> list[str]:
    """The names of the files written."""
    from autohybrid.files import write_atomically
    from autohybrid.interop.array_files import suffix_of, write_arrays

    target = arguments.target
    arrays_at = target
    if target.endswith(_SYMBOL):
        if graph is None:
            raise SettingsError(f"`{arguments.source}` holds no graph, so `{target}` cannot be written")
        arrays_at = f"{target.removesuffix(_SYMBOL)}-{arguments.epoch:04d}.params"
    files = [target] if arrays_at == target else [target, arrays_at]
    for path in files:
        if os.path.exists(path) and not arguments.force:
            raise SettingsError(f"`{path}` exists; --force writes over it")
    if suffix_of(arrays_at) == ".safetensors":
        content = replace(content, metadata={**content.metadata, **({"symbol": graph} if graph else {})})
    elif graph is not None and arrays_at == target:
        say(f"{target} holds parameters only; the graph is left out")
    write_arrays(arrays_at, content)
    if arrays_at != target and graph is not None:
        try:
            write_atomically(target, graph.encode())
        except OSError as error:
            raise SettingsError(f"cannot write `{target}`: {error.strerror or error}") from None
    return files
