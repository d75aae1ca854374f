"""Workspace: a project that is analysed again and again while its files change (an editor, `--watch`).

Syntax trees of unchanged files are kept. On a change the entries of the changed file run again, and those of files
whose blocks said something about it; other files that read it are stale and run when they are asked for. What each
file's entries said is kept per file, so that a finding in a helper appears in the helper's file.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autohybrid.analysis.entries import run_block
from autohybrid.analysis.events import Event
from autohybrid.analysis.fields import ConstructorFields
from autohybrid.analysis.frame import Session
from autohybrid.analysis.index import ModuleInfo, ProjectIndex
from autohybrid.analysis.interpreter import SourceInterpreter
from autohybrid.analysis.nodes import walk_nodes
from autohybrid.analysis.project import (
    base_names,
    mentions_blocks,
    quietly,
    run_entries,
    settled_events,
    syntax_error_event,
)
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile
from autohybrid.analysis.values import Value
from autohybrid.spans import Span


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A hybrid block of a file: its qualified name and the line of its class statement."""

    qualname: str
    line: int


class Workspace:
    """The files of a project and what the analysis says of each. `lazily`: a file runs when it is first asked for,
    so that making a large workspace takes no time.

    >>> workspace = Workspace([SourceFile("net.py", "x = 1")], AnalysisSettings())
    >>> workspace.events("net.py")
    ()
    """

    def __init__(self, files: Sequence[SourceFile], settings: AnalysisSettings, *, lazily: bool = False) -> None:
        self._settings = settings
        self._index = ProjectIndex(files)
        self._said: dict[str, tuple[Event, ...]] = {}
        self._speakers: dict[str, set[str]] = {}
        self._read: dict[str, frozenset[str]] = {}
        self._blocks: dict[str, tuple[BlockPlace, ...]] = {}
        self._stale = {file.path for file in files}
        self._changed: set[str] = set()
        if not lazily:
            self._run_all(sorted(self._stale))

    @property
    def stale(self) -> frozenset[str]:
        """The files whose entries have not run since something they read changed."""
        return frozenset(self._stale)

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the files of the project."""
        return frozenset(self._index.files)

    def update(self, file: SourceFile) -> None:
        """Take a new text of a file, or a new file."""
        self._index.replace(file)
        self._changed.add(file.path)
        about = self._speakers.get(file.path, ())
        self._stale.update(path for path, read in self._read.items() if file.path in read)
        self._run_all([file.path, *sorted(path for path in about if path != file.path)])

    def remove(self, path: str) -> None:
        """Forget a file."""
        self._index.remove(path)
        self._say(path, ())
        for known in (self._said, self._read, self._blocks):
            known.pop(path, None)
        self._changed.add(path)
        self._stale.update(other for other, read in self._read.items() if path in read)
        self._stale.discard(path)

    def run_stale(self, path: str) -> None:
        """Run the entries of a file if they have not run since something they read changed."""
        if path in self._stale:
            self._run_all([path])

    def events(self, path: str) -> tuple[Event, ...]:
        """The events in one file, whichever file's blocks they come from; each once."""
        self.run_stale(path)
        found: dict[tuple[object, ...], Event] = {}
        for speaker in sorted(self._speakers.get(path, ())):
            for event in self._said[speaker]:
                if event.span.path == path:
                    found.setdefault((event.kind, event.span, event.name), event)
        return tuple(found.values())

    def all_events(self) -> Mapping[str, tuple[Event, ...]]:
        """The events of every file that has some."""
        self._run_all(sorted(self._stale))
        return {path: self.events(path) for path in sorted(self._speakers) if self._speakers[path]}

    def take_changed(self) -> frozenset[str]:
        """The files whose text or events have changed since this was last asked."""
        changed, self._changed = frozenset(self._changed), set()
        return changed

    def blocks(self, path: str) -> tuple[BlockPlace, ...]:
        """The hybrid blocks of a file that have a `hybrid_forward`, in the order of the file."""
        self.run_stale(path)
        return self._blocks.get(path, ())

    def values(self, path: str) -> Mapping[Span, Value]:
        """The value of every expression that the entries of one file reach in it; empty when it does not parse."""
        with quietly():
            module = self._prepare(path)
            if module is None:
                return {}
            session = self._make_session()
            session.records = {}
            run_entries(session, module)
            inside = _nodes_of(module)
            return {module.text.span(node): value for node, value in session.records.items() if node in inside}

    def _run_all(self, paths: Sequence[str]) -> None:
        with quietly():
            for path in paths:
                self._run(path)

    def _make_session(self) -> Session:
        return Session(self._index, self._settings, SourceInterpreter(), ConstructorFields, run_block)

    def _prepare(self, path: str) -> ModuleInfo | None:
        """The module of a file, with what is known of names reset: any file may have changed."""
        for known in self._index.parsed:
            known.globals.clear()
        self._index.read.clear()
        return self._index.module_of(path)

    def _run(self, path: str) -> None:
        """Run the entries of one file; where it can have none, look for a syntax error only, if it was named."""
        self._stale.discard(path)
        file = self._index.files[path]
        if not mentions_blocks(file.text) and not base_names(file.text):
            if file.named:
                self._index.check(path)
            error = self._index.errors.get(path)
            self._say(path, () if error is None else (syntax_error_event(file, error),))
            return
        module = self._prepare(path)
        if module is None:
            self._blocks.pop(path, None)
            self._say(path, (syntax_error_event(file, self._index.errors[path]),))
            return
        session = self._make_session()
        deep = run_entries(session, module)
        self._say(path, (*settled_events(session), *([deep] if deep is not None else [])))
        self._read[path] = frozenset(self._index.read)
        self._blocks[path] = tuple(
            BlockPlace(info.qualname, info.node.lineno)
            for info in module.classes
            if session.classes.block_kind(info) == "hybrid"
            and session.classes.find_method(info, "hybrid_forward") is not None
        )

    def _say(self, path: str, said: tuple[Event, ...]) -> None:
        """Keep what the entries of a file say, in place of what they said before."""
        before = self._said.get(path, ())
        self._said[path] = said
        if before == said:
            return
        old, new = {event.span.path for event in before}, {event.span.path for event in said}
        for other in old - new:
            self._speakers[other].discard(path)
        for other in new:
            self._speakers.setdefault(other, set()).add(path)
        self._changed |= old | new


def _nodes_of(module: ModuleInfo) -> set[ast.AST]:
    """The nodes of a module's classes and functions: what is followed from it may lie in other files."""
    return {node for root in (*(info.node for info in module.classes), *module.functions) for node in walk_nodes(root)}
