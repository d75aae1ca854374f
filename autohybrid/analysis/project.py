"""analyze: from the texts of a project to the events of each file. The one entry of the analysis for `check`."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.source import SourceFile
from autohybrid.spans import Span


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """What a project may tell the analysis.

    `block_bases`: dotted or bare names of further classes to treat as HybridBlock. `hybrid_methods`: methods that
    receive tensors. `tensor_names`: names of arguments that are always tensors, `assume_static`: never.
    """

    block_bases: tuple[str, ...] = ()
    hybrid_methods: tuple[str, ...] = ("hybrid_forward", "forward")
    tensor_names: tuple[str, ...] = ()
    assume_static: tuple[str, ...] = ()


def analyze(files: Sequence[SourceFile], settings: AnalysisSettings) -> Mapping[str, tuple[Event, ...]]:
    """The events of every file, keyed by its path. Never raises on any text: a file that does not parse yields one
    SYNTAX_ERROR event, the others go on."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return {file.path: _events_of(file) for file in files}
    finally:
        if was_enabled:
            gc.enable()


def _events_of(file: SourceFile) -> tuple[Event, ...]:
    try:
        ast.parse(file.text)
    except SyntaxError as error:
        line, column = max(1, error.lineno or 1), max(1, error.offset or 1)
        span = Span(file.path, line, column, line, column + 1)
        return (Event(EventKind.SYNTAX_ERROR, span, text=error.msg or "invalid syntax", cell=file.cell),)
    return ()
