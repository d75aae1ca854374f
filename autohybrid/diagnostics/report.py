"""Report: the findings of one run, as a sequence that a terminal and a notebook can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from autohybrid.diagnostics.model import Diagnostic, Severity
from autohybrid.diagnostics.sources import Sources

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True, slots=True, eq=False)
class Report(Sequence[Diagnostic]):
    """The findings that are reported, in order of path, place and code; a sequence of `Diagnostic`.

    `suppressed` are those that comments silence, `known` the number that the baseline holds, `fixed` the number that
    were repaired, `files` the number of files checked. `has_all_fixes` is False while findings lack the fixes that need
    the syntax tree.

    >>> len(Report(()))
    0
    """

    findings: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...] = ()
    known: int = 0
    fixed: int = 0
    files: int = 0
    sources: Sources = field(default_factory=Sources)
    has_all_fixes: bool = True
    root: str = ""

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Diagnostic: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Diagnostic, ...]: ...
    def __getitem__(self, index: int | slice) -> Diagnostic | tuple[Diagnostic, ...]:
        return self.findings[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Report):
            return self.findings == other.findings
        if isinstance(other, (list, tuple)):
            return list(self.findings) == list(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.findings)

    def __repr__(self) -> str:
        return f"<Report: {len(self.findings)} findings in {self.files} files>"

    def __str__(self) -> str:
        from autohybrid.diagnostics.render import render
        from autohybrid.diagnostics.render.style import Style

        return render("full", self, Style())

    def count(self, value: Any) -> int:
        """How many findings have that severity; for anything else, how many equal `value`."""
        if isinstance(value, Severity):
            return sum(finding.severity is value for finding in self.findings)
        return self.findings.count(value)

    @property
    def has_failures(self) -> bool:
        """Whether an error or a warning is reported (an info alone does not fail a run)."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)

    def __rich__(self) -> Text:
        from autohybrid.diagnostics.render.full import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from autohybrid.diagnostics.render.html import render_fragment

        return render_fragment(self)
