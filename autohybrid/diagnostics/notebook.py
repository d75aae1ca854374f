"""Jupyter notebooks as Python source: the code cells of one notebook joined into one module, and the way back.

Cells share their names, so they are analysed as one module; findings are then moved back to their cell. Lines that only
IPython understands (`%magic`, `!shell`, `?help`) become comments of the same number of lines.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from autohybrid.diagnostics.files import Unreadable, split_lines
from autohybrid.diagnostics.model import Diagnostic, Edit, Label
from autohybrid.spans import Span


@dataclass(frozen=True, slots=True)
class Notebook:
    """The joined text, and for every code cell its number (1-based, all cells counted), its first joined line, and its
    source as it stands in the file."""

    text: str
    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    sources: tuple[str, ...] = ()

    def to_cell(self, line: int) -> tuple[int, int]:
        """The cell and the line inside it of a line of the joined text."""
        at = max(0, bisect_right(self.starts, line) - 1)
        return (self.numbers[at], line - self.starts[at] + 1) if self.numbers else (1, line)

    def get_cell_text(self, cell: int) -> str:
        """The source of one code cell."""
        at = self.numbers.index(cell)
        lines = self.text.removesuffix("\n").split("\n")
        end = self.starts[at + 1] - 1 if at + 1 < len(self.starts) else len(lines)
        return "\n".join(lines[self.starts[at] - 1 : end])

    def get_source(self, cell: int) -> str:
        """The source of one code cell as it stands in the file, with what only IPython understands."""
        return self.sources[self.numbers.index(cell)]

    def into_cell(self, span: Span) -> Span:
        """A span of the joined text inside the cell that it starts in."""
        cell, line = self.to_cell(span.line)
        # What takes away the last line of a cell ends at the start of the next one.
        end = line + span.end_line - span.line
        return replace(span, line=line, end_line=min(end, len(split_lines(self.get_cell_text(cell))) + 1))

    def out_of_cell(self, span: Span, cell: int) -> Span:
        """A span inside a cell as a span of the joined text."""
        start = self.starts[self.numbers.index(cell)] - 1
        return replace(span, line=span.line + start, end_line=span.end_line + start)

    def localise(self, finding: Diagnostic) -> Diagnostic:
        """The finding with its spans inside the cell it lies in."""
        path = finding.span.path
        cell = self.to_cell(finding.span.line)[0]

        def move(span: Span) -> Span:
            return span if span.path != path else self.into_cell(span)

        def note(label: Label) -> Label:
            other = self.to_cell(label.span.line)[0] if label.span.path == path else cell
            told = label.message if other == cell else f"{label.message} (in cell {other})"
            return Label(move(label.span), told)

        fixes = tuple(
            replace(fix, edits=tuple(Edit(move(edit.span), edit.content) for edit in fix.edits))
            for fix in finding.fixes
            if all(self.to_cell(edit.span.line)[0] == cell for edit in fix.edits)
        )
        labels = tuple(note(label) for label in finding.labels)
        return replace(finding, span=move(finding.span), labels=labels, fixes=fixes, cell=cell)


def read_notebook(text: str) -> Notebook | Unreadable:
    """The code cells of a notebook (nbformat 3 and 4) in Python, or why it is not one."""
    import json

    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        return Unreadable(f"is not a notebook: {error}", "notebook")
    if not isinstance(document, dict):
        return Unreadable("is not a notebook: it holds no JSON object", "notebook")
    cells = _find_cells(document)
    if cells is None:
        return Unreadable("is not a notebook: it has no list of `cells`", "notebook")
    if not _is_python(document):
        return Notebook("", (), ())
    lines: list[str] = []
    numbers: list[int] = []
    starts: list[int] = []
    sources: list[str] = []
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            numbers.append(number)
            starts.append(len(lines) + 1)
            sources.append(_cell_source(cell))
            lines.extend(_to_python(sources[-1]))
    return Notebook("".join(line + "\n" for line in lines), tuple(numbers), tuple(starts), tuple(sources))


def _find_cells(document: dict[str, object]) -> list[object] | None:
    """The cells: of the document (nbformat 4), or of its worksheets (nbformat 3)."""
    cells, sheets = document.get("cells"), document.get("worksheets")
    if isinstance(cells, list):
        return cells
    if not isinstance(sheets, list):
        return None
    lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for found in lists if isinstance(found, list) for cell in found]


def _is_python(document: dict[str, object]) -> bool:
    metadata = document.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name is None or name in ("python", "ipython")


def _cell_source(cell: dict[str, object]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _to_python(source: str) -> list[str]:
    """The lines of a cell with IPython's own syntax commented out."""
    lines = split_lines(source[:-1] if source.endswith("\n") else source)
    if lines[0].lstrip().startswith("%%"):
        return ["# " + line for line in lines]
    out: list[str] = []
    continued = False
    for line in lines:
        stripped = line.lstrip()
        foreign = continued or stripped.startswith(("%", "!", "?")) or (stripped.endswith("?") and "#" not in stripped)
        continued = foreign and stripped.endswith("\\")
        if foreign:
            indent = line[: len(line) - len(stripped)]
            out.append(f"{indent}pass  # {stripped}" if not continued else f"{indent}# {stripped}")
        else:
            out.append(line)
    return out
