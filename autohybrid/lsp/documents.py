"""Documents: the texts that the editor holds, and where they lie in the project. A notebook is one text of its cells.

Owns the way between what the protocol names (an address and a position) and what the project names (a path, a line and
a column). Knows nothing of findings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types

from autohybrid.diagnostics.model import Fix
from autohybrid.diagnostics.notebook import Notebook, read_notebook
from autohybrid.lsp.positions import UTF16, Lines
from autohybrid.spans import Span
from autohybrid.transform.notebook_cells import can_write


@dataclass(slots=True)
class Document:
    """A text that is open: its address as the client writes it, and the version that the client counts."""

    uri: str
    version: int | None
    lines: Lines


@dataclass(slots=True)
class OpenNotebook:
    """A notebook that is open: the addresses of its code cells in order, and their texts joined."""

    path: str
    cells: list[str]
    joined: Notebook
    lines: Lines


def to_path(uri: str) -> str:
    """The path that a project knows a file by: absolute, with forward slashes. What is no file keeps its address."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return unquote(uri)
    path = url2pathname(parts.path)
    return normalize(f"//{parts.netloc}{path}" if parts.netloc else path)


def normalize(path: str) -> str:
    """An absolute path with forward slashes."""
    path = os.path.abspath(path)
    return path.replace(os.sep, "/") if os.sep != "/" else path


def to_uri(path: str) -> str:
    """The address of a file."""
    return Path(path).as_uri() if os.path.isabs(path) else path


class Documents:
    """What is open. `read` gives the text of a file that is not, for ranges in it."""

    def __init__(self, read: Callable[[str], str], encoding: str = UTF16) -> None:
        self.encoding = encoding
        self._read = read
        self._open: dict[str, Document] = {}
        self._uris: dict[str, str] = {}
        self._notebooks: dict[str, OpenNotebook] = {}
        self._last_read: tuple[str, Lines] | None = None
        self._notebook_of_cell: dict[str, str] = {}

    def open(self, item: types.TextDocumentItem) -> None:
        """Take a document that the editor opened."""
        self._open[item.uri] = Document(item.uri, item.version, Lines(item.text))
        self._uris[to_path(item.uri)] = item.uri

    def change(
        self, identifier: types.VersionedTextDocumentIdentifier, changes: list[types.TextDocumentContentChangeEvent]
    ) -> None:
        """Apply edits in order; one without a range is the whole text."""
        document = self._open[identifier.uri]
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                lines = document.lines
                start = lines.offset(change.range.start, self.encoding)
                end = lines.offset(change.range.end, self.encoding)
                document.lines = Lines(lines.text[:start] + change.text + lines.text[end:])
            else:
                document.lines = Lines(change.text)
        document.version = identifier.version

    def close(self, uri: str) -> None:
        """Forget a document that the editor closed."""
        self._open.pop(uri, None)
        self._uris.pop(to_path(uri), None)

    def set_notebook(self, uri: str, cells: list[str]) -> str:
        """Take the order of a notebook's code cells, which are open documents. Returns its path."""
        self.close_notebook(uri)
        path = to_path(uri)
        texts = [self._open[cell].lines.text for cell in cells]
        joined = read_notebook(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in texts]}))
        assert isinstance(joined, Notebook)
        self._notebooks[path] = OpenNotebook(path, list(cells), joined, Lines(joined.text))
        self._notebook_of_cell.update(dict.fromkeys(cells, path))
        return path

    def close_notebook(self, uri: str) -> None:
        """Forget a notebook; its cells are closed one by one."""
        known = self._notebooks.pop(to_path(uri), None)
        for cell in known.cells if known is not None else ():
            self._notebook_of_cell.pop(cell, None)

    def paths(self) -> Iterator[str]:
        """The paths of all open files and notebooks."""
        cells = self._notebook_of_cell
        yield from (path for path, uri in self._uris.items() if uri not in cells)
        yield from self._notebooks

    def path_of(self, uri: str) -> str:
        """The path in the project of a document: for a cell, that of its notebook."""
        return self._notebook_of_cell.get(uri) or to_path(uri)

    def is_cell(self, uri: str) -> bool:
        """Whether a document is a code cell of an open notebook."""
        return uri in self._notebook_of_cell

    def uris_of(self, path: str) -> list[str]:
        """The addresses of the documents that a path is shown in: the cells of a notebook, or the file."""
        notebook = self._notebooks.get(path)
        return list(notebook.cells) if notebook is not None else [self._uris.get(path) or to_uri(path)]

    def version_of(self, uri: str) -> int | None:
        """The version of an open document."""
        document = self._open.get(uri)
        return None if document is None else document.version

    def text_of(self, path: str) -> str | None:
        """The text of an open file or notebook."""
        notebook = self._notebooks.get(path)
        if notebook is not None:
            return notebook.joined.text
        document = self._open.get(self._uris.get(path, ""))
        return None if document is None else document.lines.text

    def lines_of(self, path: str) -> Lines:
        """The lines of a file, open or not."""
        notebook = self._notebooks.get(path)
        if notebook is not None:
            return notebook.lines
        document = self._open.get(self._uris.get(path, ""))
        if document is not None:
            return document.lines
        text, known = self._read(path), self._last_read
        if known is None or known[0] != path or known[1].text != text:
            known = self._last_read = (path, Lines(text))
        return known[1]

    def can_write(self, fix: Fix) -> bool:
        """Whether the edits of a fix stay off the lines of a notebook that only IPython understands."""
        notebooks = [found.joined for edit in fix.edits if (found := self._notebooks.get(edit.span.path)) is not None]
        return not notebooks or can_write(fix, notebooks[0])

    def locate(self, span: Span) -> types.Location:
        """Address and range of a span. In a notebook, the cell that it starts in."""
        notebook = self._notebooks.get(span.path)
        if notebook is None:
            return types.Location(self.uris_of(span.path)[0], self.lines_of(span.path).range(span, self.encoding))
        at, first = self._cell_at(notebook, span.line)
        cell = self._open[notebook.cells[at]]
        inside = Span(span.path, first, span.column, span.end_line - span.line + first, span.end_column)
        return types.Location(cell.uri, cell.lines.range(inside, self.encoding))

    def place(self, uri: str, position: types.Position) -> tuple[int, int]:
        """Line and column in the project's text of a position in a document."""
        path = self.path_of(uri)
        notebook = self._notebooks.get(path)
        if notebook is None:
            return self.lines_of(path).place(position, self.encoding)
        line, column = self._open[uri].lines.place(position, self.encoding)
        return line + notebook.joined.starts[notebook.cells.index(uri)] - 1, column

    @staticmethod
    def _cell_at(notebook: OpenNotebook, line: int) -> tuple[int, int]:
        number, inside = notebook.joined.to_cell(line)
        return notebook.joined.numbers.index(number), inside
