"""Workspace: a project that is analysed again and again while its files change (an editor, `--watch`).

Syntax trees of unchanged files are kept. On a change the entries of the changed file run again, and those of files
whose blocks said something about it; other files that read it are stale and run when they are asked for. What each
file's entries said is kept per file, so that a finding in a helper appears in the helper's file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autohybrid.analysis.entries import run_block
from autohybrid.analysis.events import Event
from autohybrid.analysis.fields import ConstructorFields
from autohybrid.analysis.frame import Session
from autohybrid.analysis.index import ProjectIndex
from autohybrid.analysis.interpreter import SourceInterpreter
from autohybrid.analysis.project import mentions_blocks, quietly, run_entries, settled_events, syntax_error_event
from autohybrid.analysis.settings import AnalysisSettings
from autohybrid.analysis.source import SourceFile


class Workspace:
    """The files of a project and what the analysis says of each.

    >>> workspace = Workspace([SourceFile("net.py", "x = 1")], AnalysisSettings())
    >>> workspace.events("net.py")
    ()
    """

    def __init__(self, files: Sequence[SourceFile], settings: AnalysisSettings) -> None:
        self._settings = settings
        self._index = ProjectIndex(files)
        self._said: dict[str, tuple[Event, ...]] = {}
        self._read: dict[str, frozenset[str]] = {}
        self._stale: set[str] = set()
        with quietly():
            for file in files:
                if mentions_blocks(file.text):
                    self._run(file.path)

    def update(self, file: SourceFile) -> None:
        """Take a new text of a file, or a new file."""
        self._index.replace(file)
        about = [path for path, said in self._said.items() if any(event.span.path == file.path for event in said)]
        self._stale.update(path for path, read in self._read.items() if file.path in read)
        with quietly():
            for path in dict.fromkeys([file.path, *about]):
                self._run(path)

    def remove(self, path: str) -> None:
        """Forget a file."""
        self._index.remove(path)
        self._said.pop(path, None)
        self._stale.discard(path)

    def events(self, path: str) -> tuple[Event, ...]:
        """The events in one file, whichever file's blocks they come from; each once."""
        if path in self._stale:
            with quietly():
                self._run(path)
        found: dict[tuple[object, ...], Event] = {}
        for said in self._said.values():
            for event in said:
                if event.span.path == path:
                    found.setdefault((event.kind, event.span, event.name), event)
        return tuple(found.values())

    def all_events(self) -> Mapping[str, tuple[Event, ...]]:
        """The events of every file that has some."""
        with quietly():
            for path in sorted(self._stale):
                self._run(path)
        paths = {event.span.path for said in self._said.values() for event in said}
        return {path: self.events(path) for path in sorted(paths)}

    def _run(self, path: str) -> None:
        """Run the entries of one file, with what is known of names reset: any file may have changed."""
        self._stale.discard(path)
        for known in self._index.parsed:
            known.globals.clear()
        self._index.read.clear()
        module = self._index.module_of(path)
        if module is None:
            self._said[path] = (syntax_error_event(self._index.files[path], self._index.errors[path]),)
            return
        session = Session(self._index, self._settings, SourceInterpreter(), ConstructorFields, run_block)
        deep = run_entries(session, module)
        self._said[path] = (*settled_events(session), *([deep] if deep is not None else []))
        self._read[path] = frozenset(self._index.read)
