"""Show what hybridize() makes of a class: the emitted function, the graph, the generated executor, the findings.

The emitted function comes from the source alone; `--only beside` puts it beside the source, line by line. The graph
and the executor need a call: give the inputs' shapes
(`--input 1x3x224x224`, `--input 4x7:int32`), or define `example()` in the file, returning a block and a list of calls;
then the file is imported and run.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from autohybrid.cli.parser import Parser, one_of
from autohybrid.cli.terminal import say, write_out
from autohybrid.config import SettingsError

_PARTS = ("findings", "source", "emitted", "beside", "graph", "executor")
_ONLY_WHEN_ASKED = ("source", "beside")


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid show`."""
    parser.add_argument("target", metavar="FILE:CLASS", help="a file and a class in it")
    parser.add_argument(
        "--input", action="append", default=[], metavar="SHAPE[:DTYPE]", help="shape of an input, once for each"
    )
    parser.add_argument(
        "--only", action="append", default=[], type=one_of(*_PARTS), help="show only this part (may be repeated)"
    )
    parser.add_argument("--profile", action="store_true", help="time every step of the compiled call, and nothing else")
    parser.add_argument("--trace", metavar="FILE", help="with --profile: also write the steps as a Chrome trace")
    pictures = parser.add_mutually_exclusive_group()
    pictures.add_argument("--dot", action="store_true", help="the graph in Graphviz's language, and nothing else")
    pictures.add_argument("--svg", action="store_true", help="the graph as an SVG picture, and nothing else")


def run(arguments: argparse.Namespace) -> int:
    """Print the parts. Raises SettingsError for a file, class or input that cannot be used."""
    path, _, class_name = arguments.target.rpartition(":")
    if not path or not class_name:
        raise SettingsError(f"`{arguments.target}` is not of the form FILE:CLASS")
    wanted = arguments.only or [p for p in _PARTS if p not in _ONLY_WHEN_ASKED]
    if arguments.profile:
        return _profile(path, class_name, arguments.input, arguments.trace)
    if arguments.trace:
        raise SettingsError("--trace goes with --profile")
    graph = None
    picture = "dot" if arguments.dot else "svg" if arguments.svg else None
    if picture or {"graph", "executor"} & set(wanted):
        graph = _graph(path, class_name, arguments.input)
        if graph is None and (picture or arguments.only):
            raise SettingsError("a graph needs inputs: give --input SHAPE, or define example() in the file")
    if picture and graph is not None:
        write_out(f"{getattr(graph, picture)}\n")
        return 0
    sections = [*_source_sections(path, class_name, wanted)]
    if graph is not None:
        sections += [(n, getattr(graph, a)) for n, a in (("graph", "text"), ("executor", "executor")) if n in wanted]
    write_out("\n".join(f"# -- {title} of {class_name}\n{text.rstrip()}\n" for title, text in sections))
    if graph is None:
        say("give --input SHAPE for the graph and the generated executor")
    return 0


def _source_sections(path: str, class_name: str, wanted: list[str]) -> list[tuple[str, str]]:
    from autohybrid.errors import MXNetError
    from autohybrid.transform.emitted import emitted_methods

    try:
        methods = emitted_methods(path, class_name)
    except SyntaxError as error:
        raise SettingsError(f"{path}:{error.lineno}: {error.msg}") from None
    except (OSError, MXNetError, UnicodeDecodeError) as error:
        raise SettingsError(str(error)) from None
    sections = []
    if "findings" in wanted:
        found = _findings(path, class_name)
        if found:
            sections.append(("findings", found))
    if "source" in wanted:
        sections.append(("source", "\n\n".join(f"# {path}:{m.line}\n{m.source}" for m in methods)))
    if "emitted" in wanted:
        sections.append(("emitted function", "\n\n".join(f"# {path}:{m.line}\n{m.emitted}" for m in methods)))
    if "beside" in wanted:
        columns = "\n\n".join(f"# {path}:{m.line}\n{m.beside}" for m in methods)
        sections.append(("source, and emitted function,", columns))
    return sections


def _findings(path: str, class_name: str) -> str:
    from autohybrid.diagnostics.engine import check

    return "\n".join(f"{d.span}: {d.code} {d.severity.value} {d.message}" for d in check(path) if d.block == class_name)


def _profile(path: str, class_name: str, inputs: list[str], trace: str | None) -> int:
    import sys

    call = _call(path, class_name, inputs)
    if call is None:
        raise SettingsError("a profile needs inputs: give --input SHAPE, or define example() in the file")
    block, args = call
    block.initialize()
    block.hybridize()
    profile = block.profile(*args)
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(profile)
    else:
        write_out(f"{profile}\n")
    if trace:
        profile.write_trace(trace)
    return 0


def _graph(path: str, class_name: str, inputs: list[str]) -> Any:
    """The inspected graph; None when there is nothing to call the block with."""
    from autohybrid.errors import HybridizeWarning
    from autohybrid.transform.inspection import inspect_block

    call = _call(path, class_name, inputs)
    if call is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HybridizeWarning)  # the findings are a part of their own
        return inspect_block(*call)


def _call(path: str, class_name: str, inputs: list[str]) -> Any:
    """A block and the arguments of one call; None when there is nothing to call it with."""
    with open(path, "rb") as stream:
        has_example = b"def example(" in stream.read()
    if not inputs and not has_example:
        return None
    from autohybrid import compat
    from autohybrid.transform.inspection import call_of, load_module

    arrays = [_array(text) for text in inputs]
    compat.install()
    return call_of(load_module(path), class_name, arrays)


def _array(text: str) -> Any:
    from autohybrid import ndarray

    shape, _, dtype = text.partition(":")
    try:
        extents = tuple(int(part) for part in shape.lower().replace(",", "x").split("x"))
        return ndarray.ones(extents, dtype=dtype or "float32")
    except (ValueError, TypeError):
        raise SettingsError(f"`{text}` is not a shape such as 1x3x224x224 or 4x7:int32") from None
