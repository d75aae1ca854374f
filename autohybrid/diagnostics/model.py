"""Diagnostic and Fix: what a finding is. Owns the data types only; rules make them, renderers print them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from autohybrid.spans import Span


class Severity(Enum):
    """How a finding counts: errors and warnings set the exit code, infos are shown only when asked for."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(Enum):
    """How sure the analysis is. DEFINITE becomes an error, LIKELY a warning, POSSIBLE is off by default."""

    DEFINITE = "definite"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Applicability(Enum):
    """SAFE keeps meaning and comments; UNSAFE may change behaviour; DISPLAY is shown but never applied."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True)
class Label:
    """One step of the "because" trail: a range and what is true there."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `content`."""

    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together; applied all or none."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = Applicability.UNSAFE


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding. `message` is the headline: lower case, no full stop, the user's names in backticks.

    `labels` is the trail, at most three, first cause first. `help` says what to write instead, in the user's own
    names. `block` and `method` name where it was found (`Net`, `hybrid_forward`).
    """

    code: str
    name: str
    message: str
    span: Span
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.DEFINITE
    labels: tuple[Label, ...] = ()
    help: str = ""
    fixes: tuple[Fix, ...] = ()
    block: str = ""
    method: str = ""
    cell: int | None = None
    suppressed: str | None = field(default=None)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Order of every report: path, place, code."""
        span = self.span
        return (
            span.path,
            self.cell or 0,
            span.line,
            span.column,
            self.code,
            span.end_line,
            span.end_column,
            self.message,
        )

    @property
    def place(self) -> str:
        """Where it is, for people: `net.py:3:5`, in a notebook `net.ipynb:cell 2:3:5`."""
        span = self.span
        return str(span) if self.cell is None else f"{span.path}:cell {self.cell}:{span.line}:{span.column}"

    def in_file(self, span: Span) -> Span:
        """A range of this finding in the lines of its file. Those of a cell are no lines of the notebook's JSON, for
        which the first one stands."""
        return span if self.cell is None else Span(span.path, 1, 1, 1, 1)

    def with_severity(self, severity: Severity) -> Diagnostic:
        """The same finding with another severity."""
        return replace(self, severity=severity)
