"""Fixes in notebooks: found in the joined text of the cells, applied to the source of each cell as the file has it.

While fixes are applied, a cell is a text of its own, with the path `net.ipynb:cell 3`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from autohybrid.diagnostics.files import split_lines
from autohybrid.diagnostics.model import Diagnostic, Edit, Fix
from autohybrid.diagnostics.notebook import Notebook
from autohybrid.diagnostics.sources import Sources
from autohybrid.transform.fixes import complete

_CELL = re.compile(r"(?P<path>.*):cell (?P<cell>\d+)\Z", re.DOTALL)


class CellTexts:
    """The texts of a run, with every cell of a notebook apart."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def complete(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The findings with the fixes that need the tree; edits of notebooks lie in cells."""
        listed = list(findings)
        joined = complete([self._joined(finding) for finding in listed], self._sources.get_text)
        return [
            finding if finding.cell is None and found is finding else self._apart(finding, found)
            for finding, found in zip(listed, joined)
        ]

    def get_text(self, path: str) -> str:
        """The text of a file, or of one cell."""
        place = split_cell(path)
        notebook = None if place is None else self._sources.find_notebook(place[0])
        if place is None or notebook is None:
            return self._sources.get_text(path)
        return notebook.get_source(place[1])

    def _joined(self, finding: Diagnostic) -> Diagnostic:
        """A finding of a cell as one of the joined text."""
        notebook = None if finding.cell is None else self._sources.find_notebook(finding.span.path)
        if notebook is None or finding.cell is None:
            return finding
        cell = finding.cell
        fixes = tuple(
            replace(fix, edits=tuple(Edit(notebook.out_of_cell(e.span, cell), e.content) for e in fix.edits))
            for fix in finding.fixes
        )
        return replace(finding, span=notebook.out_of_cell(finding.span, cell), labels=(), fixes=fixes, cell=None)

    def _apart(self, finding: Diagnostic, found: Diagnostic) -> Diagnostic:
        """The finding of a cell with the fixes of the joined text, their edits inside cells."""
        notebook = None if finding.cell is None else self._sources.find_notebook(finding.span.path)
        if notebook is None:
            return found
        return replace(
            finding, fixes=tuple(_split_edits(fix, notebook) for fix in found.fixes if can_write(fix, notebook))
        )


def split_cell(path: str) -> tuple[str, int] | None:
    """The notebook and the number of the cell that a path means, None for a file."""
    match = _CELL.match(path)
    return None if match is None else (match["path"], int(match["cell"]))


def split_files(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[int, str]]]:
    """New texts apart: of files by path, of cells by notebook and number."""
    files: dict[str, str] = {}
    cells: dict[str, dict[int, str]] = {}
    for path, text in texts.items():
        place = split_cell(path)
        if place is None:
            files[path] = text
        else:
            cells.setdefault(place[0], {})[place[1]] = text
    return files, cells


def _split_edits(fix: Fix, notebook: Notebook) -> Fix:
    edits = []
    for edit in fix.edits:
        cell = notebook.to_cell(edit.span.line)[0]
        span = notebook.into_cell(edit.span)
        edits.append(Edit(replace(span, path=f"{span.path}:cell {cell}"), edit.content))
    return replace(fix, edits=tuple(edits))


def can_write(fix: Fix, notebook: Notebook) -> bool:
    """Whether every edit stays in one cell and off the lines that only IPython understands."""
    return all(_is_plain(edit, notebook) for edit in fix.edits)


def _is_plain(edit: Edit, notebook: Notebook) -> bool:
    cell = notebook.to_cell(edit.span.line)[0]
    span = notebook.into_cell(edit.span)
    shown, stored = split_lines(notebook.get_cell_text(cell)), split_lines(notebook.get_source(cell))
    inside = range(span.line - 1, min(span.end_line, len(shown)))
    stays = span.end_line - span.line == edit.span.end_line - edit.span.line
    return stays and all(shown[number] == stored[number] for number in inside)
