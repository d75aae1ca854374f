"""analyze: from the texts of a project to the events of each file. The one entry of the analysis for `check`.

Files that mention neither a hybrid block nor autohybrid are not parsed unless another file imports from them. Syntax
trees live until the analysis ends; the collector of cycles is off meanwhile, as it would walk them again and again.
"""

from __future__ import annotations

import gc
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from autohybrid.analysis.entries import run_block, run_module, static_input_events
from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.fields import ConstructorFields
from autohybrid.analysis.frame import Session
from autohybrid.analysis.index import ModuleInfo, ProjectIndex
from autohybrid.analysis.interpreter import SourceInterpreter
from autohybrid.analysis.live import LiveFields, blocks_below, source_files, source_path
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.model import Confidence
from autohybrid.spans import Span

__all__ = ["AnalysisSettings", "analyze", "analyze_live", "quietly", "run_entries", "settled_events"]

_WORDS = ("hybrid_forward", "HybridBlock", "autohybrid", "HybridLambda")
_BASES = re.compile(r"class[ \t]+\w+[ \t]*\(([^)]*)\)")
_NAME = re.compile(r"\w+")
_RECURSION_LIMIT = 6000


def analyze(files: Sequence[SourceFile], settings: AnalysisSettings) -> Mapping[str, tuple[Event, ...]]:
    """The events of every file, keyed by its path. Never raises on any text: a file that does not parse yields one
    SYNTAX_ERROR event, the others go on. A caller that has turned the collector of cycles off is about to end, so that
    nothing is taken apart for it."""
    ends_soon = not gc.isenabled()
    with quietly():
        return _analyze(files, settings, ends_soon)


@contextmanager
def quietly() -> Iterator[None]:
    """Analyse with the collector of cycles off, room for deep nesting, and no warnings about the user's literals."""
    was_enabled, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.setrecursionlimit(limit)
        if was_enabled:
            gc.enable()


def mentions_blocks(text: str) -> bool:
    """Whether a file says anything that makes it worth reading."""
    return any(word in text for word in _WORDS)


def run_entries(session: Session, module: ModuleInfo) -> Event | None:
    """Analyse the entries of a module; an event when it is nested too deeply to finish."""
    try:
        run_module(session, module)
    except RecursionError:
        return _too_deep(module.file)
    return None


def _analyze(
    files: Sequence[SourceFile], settings: AnalysisSettings, ends_soon: bool
) -> Mapping[str, tuple[Event, ...]]:
    index = ProjectIndex(files)
    session = Session(index, settings, SourceInterpreter(), ConstructorFields, run_block)
    events: dict[str, list[Event]] = {file.path: [] for file in files}
    wanted = [file for file in files if mentions_blocks(file.text)]
    paths = {file.path for file in wanted}
    others = {file.path: base_names(file.text) for file in files if file.path not in paths}
    while wanted:
        for file in wanted:
            module = index.module_of(file.path)
            deep = run_entries(session, module) if module is not None else None
            if deep is not None:
                events[file.path].append(deep)
        wanted = [index.files[path] for path in _derived(session, others)]
        for file in wanted:
            del others[file.path]
    for path in others:
        if index.files[path].named:
            index.check(path)
    for event in settled_events(session):
        events.setdefault(event.span.path, []).append(event)
    for path, error in index.errors.items():
        events[path].append(syntax_error_event(index.files[path], error))
    if not ends_soon:
        index.release()
        session.release()
    return {path: tuple(found) for path, found in events.items()}


def base_names(text: str) -> frozenset[str]:
    """The names in the brackets of the class statements of a file."""
    if "class " not in text:
        return frozenset()
    return frozenset(name for bases in _BASES.findall(text) for name in _NAME.findall(bases))


def _derived(session: Session, others: Mapping[str, frozenset[str]]) -> list[str]:
    """The paths of files not read so far that derive a class from a block of the files read."""
    names = {
        info.name for module in session.index.parsed for info in module.classes if session.classes.block_kind(info)
    }
    return [path for path, bases in others.items() if not names.isdisjoint(bases)]


def settled_events(session: Session) -> Iterator[Event]:
    """The events of a session, their confidence settled by all that was learnt of the arguments they are about."""
    for pending in session.pending.values():
        event = pending.event
        inner = (event.span.path, event.block) in session.inner_blocks
        confidence = session.evidence.settle(event, pending.key, inner)
        if event.kind is EventKind.RESULT and inner:
            confidence = Confidence.POSSIBLE
        if confidence is not None:
            yield event.with_confidence(confidence)
    yield from static_input_events(session)


def syntax_error_event(file: SourceFile, error: SyntaxError) -> Event:
    """The event of a file that does not parse."""
    line, column = max(1, error.lineno or 1), max(1, error.offset or 1)
    span = Span(file.path, line, column, line, column + 1)
    return Event(EventKind.SYNTAX_ERROR, span, text=error.msg or "invalid syntax", cell=file.cell)


def _too_deep(file: SourceFile) -> Event:
    return Event(EventKind.TOO_DEEP, Span(file.path, 1, 1, 1, 2), text="nested too deeply", cell=file.cell)


def analyze_live(root: object, settings: AnalysisSettings | None = None) -> tuple[Event, ...]:
    """The events of running the live block `root` as a graph: `hybrid_forward` of its class and of every block below,
    with what their attributes hold now. Empty when no source can be read."""
    files = source_files(root)
    index = ProjectIndex(files)
    chosen = settings or AnalysisSettings()
    session = Session(index, chosen, SourceInterpreter(), lambda made: LiveFields(made, root), run_block)
    for block in blocks_below(root):
        path = source_path(type(block))
        info = None if path is None else index.find_class(path, type(block).__qualname__.replace(".<locals>", ""))
        if info is not None and session.classes.find_method(info, "hybrid_forward") is not None:
            if block is not root:
                session.inner_blocks.add((info.module.file.path, info.qualname))
            session.result_of(info)
    return tuple(settled_events(session))
