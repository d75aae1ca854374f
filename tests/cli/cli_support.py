"""What the command-line tests share: the outcome of a command, and the rules that `fake_rules` puts in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autohybrid.analysis.events import Event, EventKind
from autohybrid.analysis.source import SourceFile
from autohybrid.diagnostics.model import Applicability, Confidence, Diagnostic, Edit, Fix, Severity
from autohybrid.spans import Span


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


def finding_lines(result: Outcome) -> list[str]:
    """The lines of the concise format that are findings, without the summary behind them."""
    return [line for line in result.out.splitlines() if re.match(r"\S+?:\d+:\d+-", line) or ":cell " in line]


CODES = {"AH101": "tensor-shape", "AH102": "tensor-dtype", "AH201": "host-sync", "AH301": "print-effect"}
_MARK = re.compile(r"bad(?P<code>AH\d{3})(?P<extra>_likely|_possible|_info|_fix)?")


def fake_analyze(files: Sequence[SourceFile], settings: object) -> dict[str, tuple[Event, ...]]:
    return {file.path: tuple(_marks(file)) for file in files}


def _marks(file: SourceFile) -> list[Event]:
    return [
        Event(
            EventKind.ATTRIBUTE,
            Span(file.path, number, match.start() + 1, number, match.end() + 1),
            data={"code": match["code"], "extra": match["extra"] or ""},
        )
        for number, line in enumerate(file.text.splitlines(), start=1)
        for match in _MARK.finditer(line)
    ]


def to_finding(event: Event) -> Diagnostic:
    code, extra = event.get("code"), event.get("extra")
    fix = Fix("write `good`", (Edit(event.span, "good"),), Applicability.SAFE)
    return Diagnostic(
        code,
        CODES[code],
        f"`{code}` is bad",
        event.span,
        Severity.INFO if extra == "_info" else Severity.WARNING if extra == "_likely" else Severity.ERROR,
        {"_likely": Confidence.LIKELY, "_possible": Confidence.POSSIBLE}.get(extra, Confidence.DEFINITE),
        fixes=(fix,) if extra == "_fix" else (),
    )
