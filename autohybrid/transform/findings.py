"""The analyser's findings on the source of a block and of the blocks below it, for `hybridize()` to report."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.errors import HybridizeError, HybridizeWarning

_LIBRARY = "autohybrid."


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings in the code that a block runs."""

    found: tuple[Diagnostic, ...] = ()

    def warn(self, block: Any, level: int) -> None:
        """Issue one HybridizeWarning with all findings; with `strict`, raise them as HybridizeError."""
        if not self.found:
            return
        message = f"hybridizing {type(block).__name__}:\n{_report(self.found)}"
        if block._options.strict:
            raise HybridizeError(message, self.found)
        warnings.warn(message, HybridizeWarning, stacklevel=level)

    def refuse(self, block: Any, error: HybridizeError) -> HybridizeError:
        """The error for a block that cannot be a graph: why, and every finding."""
        message = f"{type(block).__name__} cannot be hybridized: {error}"
        if self.found:
            message += f"\n{_report(self.found)}"
        return type(error)(message, self.found)


def findings_of(block: Any) -> Findings:
    """Findings in the classes of `block` and of all blocks below it, without those of autohybrid's own."""
    classes = list(dict.fromkeys(_classes(block)))
    if not classes:
        return Findings()
    return Findings()


def _classes(block: Any) -> Iterator[type]:
    for base in type(block).__mro__:
        if not base.__module__.startswith(_LIBRARY) and base is not object:
            yield base
    for child in block._children.values():
        yield from _classes(child)


def source_file(cls: type) -> str | None:
    """The file that defines a class; None when there is none (a prompt, exec)."""
    module = sys.modules.get(cls.__module__)
    try:
        path = inspect.getsourcefile(module if module is not None else cls)
    except TypeError:
        return None
    return path if path is not None and Path(path).is_file() else None


def _report(found: tuple[Diagnostic, ...]) -> str:
    return "\n".join(f"{d.span}: {d.code} {d.severity.value} {d.message}{f' ({d.help})' if d.help else ''}" for d in found)


