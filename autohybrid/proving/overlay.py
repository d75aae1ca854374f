"""Texts in the place of files: imports, tracebacks and `inspect` see the text on trial, the disk stays as it is."""

from __future__ import annotations

import importlib.util
import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


class _TextLoader(SourceFileLoader):
    """Loads a module from a text as if it stood in its file; neither reads nor writes compiled files."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._text, self.path, "exec", dont_inherit=True)


class Overlay(MetaPathFinder):
    """Serves the texts, by absolute path, to every import of their files."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {os.path.realpath(path): text for path, text in texts.items()}

    def install(self) -> None:
        """Let the process see the texts from now on."""
        sys.meta_path.insert(0, self)
        for path, text in self._texts.items():
            # Entries without a time are never compared with the disk.
            linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target)
        return None if found is None else self._placed(found)

    def load(self, path: str) -> ModuleType:
        """Import a file: under its dotted name where it belongs to a package, so that relative imports work.

        Raises what the file raises, ImportError when it is not Python.
        """
        path = os.path.realpath(path)
        folder, name = _module_name(path)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        if all(part.isidentifier() for part in name.split(".")):
            # A module elsewhere on the path may have the same name: then the file is loaded by its place.
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.origin is not None and os.path.realpath(spec.origin) == path:
                return importlib.import_module(name)
        return self._load_by_place(path, f"example_{len(sys.modules)}")

    def _load_by_place(self, path: str, name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is not a Python file")
        spec = self._placed(spec)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        assert spec.loader is not None
        spec.loader.exec_module(module)
        return module

    def _placed(self, spec: ModuleSpec) -> ModuleSpec:
        """The specification with the loader of a text, and the real path, for files that have one."""
        path = os.path.realpath(spec.origin) if spec.has_location and spec.origin else ""
        if path in self._texts:
            spec.loader = _TextLoader(spec.name, path, self._texts[path])
            spec.origin = path
        return spec


def _module_name(path: str) -> tuple[str, str]:
    """The folder that the package of a file lies in, and the dotted name of the file."""
    folder, file = os.path.split(path)
    parts = [os.path.splitext(file)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, last = os.path.split(folder)
        parts.insert(0, last)
    return folder, ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
