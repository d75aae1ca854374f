"""The text of the files that findings lie in, read when a renderer or a suppression asks for it."""

from __future__ import annotations

from collections.abc import Mapping

from autohybrid.diagnostics.files import Unreadable, decode, read_bytes, split_lines
from autohybrid.diagnostics.notebook import Notebook, read_notebook


class Sources:
    """Texts by path as findings show it. `texts` holds what is not on disk (stdin, an editor's buffer)."""

    def __init__(self, absolute: Mapping[str, str] | None = None, texts: Mapping[str, str] | None = None) -> None:
        self._absolute = dict(absolute or {})
        self._texts: dict[str, str] = dict(texts or {})
        self._notebooks: dict[str, Notebook] = {}
        self._lines: dict[tuple[str, int | None], list[str]] = {}

    def get_absolute(self, path: str) -> str:
        """Where `path` lies on the disk."""
        return self._absolute.get(path, path)

    def get_text(self, path: str) -> str:
        """The whole text of a file; for a notebook, its code cells joined. Empty when it cannot be read."""
        if path not in self._texts:
            self.add(path, self._read(path))
        return self._texts[path]

    def add(self, path: str, text: str, notebook: Notebook | None = None) -> None:
        """Remember a text that was read already."""
        self._texts[path] = text
        if notebook is not None:
            self._notebooks[path] = notebook

    def find_notebook(self, path: str) -> Notebook | None:
        """The notebook at `path`, or None for a plain file."""
        if path.endswith(".ipynb"):
            self.get_text(path)
        return self._notebooks.get(path)

    def get_lines(self, path: str, cell: int | None = None) -> list[str]:
        """The lines (without line ends) of a file, or of one cell of a notebook."""
        key = (path, cell)
        if key not in self._lines:
            notebook = self.find_notebook(path) if cell is not None else None
            text = notebook.get_source(cell) if notebook and cell is not None else self.get_text(path)
            self._lines[key] = split_lines(text)
        return self._lines[key]

    def get_line(self, path: str, line: int, cell: int | None = None) -> str:
        """One line, or nothing past the end."""
        lines = self.get_lines(path, cell)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _read(self, path: str) -> str:
        data = read_bytes(self.get_absolute(path))
        text = data if isinstance(data, Unreadable) else decode(data)
        if isinstance(text, Unreadable):
            return ""
        if path.endswith(".ipynb"):
            notebook = read_notebook(text)
            if isinstance(notebook, Notebook):
                self._notebooks[path] = notebook
                return notebook.text
        return text
