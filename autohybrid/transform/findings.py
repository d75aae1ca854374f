"""The analyser's findings on the source of a block and of the blocks below it, for `hybridize()` to report."""

from __future__ import annotations

import inspect
import linecache
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.errors import HybridizeError, HybridizeWarning

if TYPE_CHECKING:
    from autohybrid.analysis.events import Event


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
    """Findings in the code that running `block` runs, with what its attributes hold now.

    Notes, and what comments in the source silence, are left out.
    """
    if not _has_own_code(block):
        return Findings()
    from autohybrid.analysis.project import analyze_live

    return _judged(analyze_live(block))


def _has_own_code(block: Any) -> bool:
    """Whether the class of the block, or of one below it, is not autohybrid's; the analysis is loaded only then."""
    if any(not base.__module__.startswith("autohybrid.") for base in type(block).__mro__[:-1]):
        return True
    return any(_has_own_code(child) for child in block._children.values())


def findings_of_class(cls: type) -> Findings:
    """Findings in one class, from its source alone (`__init__` says what its attributes are)."""
    from autohybrid.analysis.project import AnalysisSettings, analyze
    from autohybrid.analysis.source import SourceFile

    path = inspect.getsourcefile(cls)
    if path is None or not Path(path).is_file():
        return Findings()
    events = analyze([SourceFile(path, _text(path))], AnalysisSettings())
    found = _judged(events[path]).found
    return Findings(tuple(d for d in found if d.block == cls.__qualname__.rpartition(".")[2]))


def _judged(events: tuple[Event, ...]) -> Findings:
    if not events:
        return Findings()
    from autohybrid.diagnostics.engine import get_codes
    from autohybrid.diagnostics.judge import judge
    from autohybrid.diagnostics.suppressions import silence

    by_path: dict[str, list[Event]] = {}
    for event in events:
        by_path.setdefault(event.span.path, []).append(event)
    kept: list[Diagnostic] = []
    for path, listed in by_path.items():
        found = [d for d in judge({path: tuple(listed)}) if d.severity is not Severity.INFO]
        kept.extend(silence(path, _text(path), found, get_codes).kept)
    return Findings(tuple(sorted(kept, key=lambda d: d.sort_key)))


def _text(path: str) -> str:
    linecache.checkcache(path)
    return "".join(linecache.getlines(path))


def _count(found: tuple[Diagnostic, ...]) -> str:
    return "1 finding" if len(found) == 1 else f"{len(found)} findings"


def _report(found: tuple[Diagnostic, ...]) -> str:
    """The findings as `autohybrid check` shows them in a terminal, without colours."""
    from autohybrid.diagnostics.render.frames import to_plain_text, to_rows
    from autohybrid.diagnostics.render.style import Style
    from autohybrid.diagnostics.sources import Sources

    sources, style = Sources(), Style(width=100)
    return "\n".join(to_plain_text(to_rows(finding, sources, style)) for finding in found).rstrip()
