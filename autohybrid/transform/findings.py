"""The analyser's findings on the source of a block and of the blocks below it, for `hybridize()` to report."""

from __future__ import annotations

import inspect
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.errors import HybridizeError, HybridizeWarning

_LIBRARY = "autohybrid."


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings in the code that a block runs."""

    found: tuple[Diagnostic, ...] = ()

    def warn(self, block: Any, level: int) -> None:
        """Issue one HybridizeWarning with all findings; with `strict`, raise them as HybridizeError.

        `level` is the `stacklevel` for the caller of this method.
        """
        if not self.found:
            return
        message = self.text(type(block).__name__)
        if block._options.strict:
            raise HybridizeError(message, self.found)
        warnings.warn(message, HybridizeWarning, stacklevel=level + 1)

    def text(self, name: str) -> str:
        """All findings, for a message about the block class `name`."""
        return f"hybridizing {name}: {_count(self.found)}\n{_report(self.found)}"

    def refuse(self, block: Any, error: HybridizeError) -> HybridizeError:
        """The error for a block that cannot be a graph: why, and every finding."""
        message = f"{type(block).__name__} cannot be hybridized: {error}"
        if self.found:
            message += f"\n{_report(self.found)}"
        return type(error)(message, self.found)


def findings_of(block: Any) -> Findings:
    """Findings in the classes of `block` and of all blocks below it, without those of autohybrid's own."""
    return findings_of_classes(dict.fromkeys(_classes(block)))


def findings_of_classes(classes: Iterable[type]) -> Findings:
    """Findings in these classes, each looked up in the file that defines it."""
    wanted: dict[str, set[str]] = {}
    for cls in classes:
        path = source_file(cls)
        if path is not None:
            wanted.setdefault(path, set()).add(cls.__qualname__.rpartition(".")[2])
    found = [d for path, names in wanted.items() for d in _findings_in(path, _stamp(path)) if d.block in names]
    return Findings(tuple(sorted(found, key=lambda d: d.sort_key)))


def _classes(block: Any) -> Iterator[type]:
    for base in type(block).__mro__:
        if not base.__module__.startswith(_LIBRARY) and base is not object:
            yield base
    for child in block._children.values():
        yield from _classes(child)


def source_file(cls: type) -> str | None:
    """The file that defines a class; None when there is none (a prompt, exec)."""
    path: str | None = None
    for value in vars(cls).values():
        code = getattr(inspect.unwrap(value) if callable(value) else value, "__code__", None)
        if code is not None:
            path = code.co_filename
            break
    if path is None:
        path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return path if path is not None and Path(path).is_file() else None


def _stamp(path: str) -> tuple[int, int]:
    status = Path(path).stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=256)
def _findings_in(path: str, stamp: tuple[int, int]) -> tuple[Diagnostic, ...]:
    """What `autohybrid check` finds in one file, without infos and what comments in it silence.

    `stamp` renews the answer when the file changes.
    """
    from autohybrid.analysis.project import AnalysisSettings, analyze
    from autohybrid.analysis.source import SourceFile
    from autohybrid.diagnostics.engine import get_codes
    from autohybrid.diagnostics.judge import judge
    from autohybrid.diagnostics.suppressions import silence

    with tokenize.open(path) as stream:
        text = stream.read()
    events = analyze([SourceFile(path, text)], AnalysisSettings())
    found = [d for d in judge(events) if d.severity is not Severity.INFO]
    return silence(path, text, found, get_codes).kept


def _count(found: tuple[Diagnostic, ...]) -> str:
    return "1 finding" if len(found) == 1 else f"{len(found)} findings"


def _report(found: tuple[Diagnostic, ...]) -> str:
    """The findings as `autohybrid check` shows them in a terminal, without colours."""
    from autohybrid.diagnostics.render.frames import to_plain_text, to_rows
    from autohybrid.diagnostics.render.style import Style
    from autohybrid.diagnostics.sources import Sources

    sources, style = Sources(), Style(width=100)
    return "\n".join(to_plain_text(to_rows(finding, sources, style)) for finding in found).rstrip()
