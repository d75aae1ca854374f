"""full: every finding as a frame, then the summary. The only renderer that loads rich, and only for colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autohybrid.diagnostics.render.frames import Row, to_plain_text, to_rows
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.render.summary import summary_lines
from autohybrid.diagnostics.report import Report

if TYPE_CHECKING:
    from rich.text import Text

# The sixteen colours of the terminal's own palette, so that dark and light themes both stay readable.
COLOURS = {
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "because": "blue",
    "help": "bold green",
    "gutter": "bright_black",
    "path": "bold",
    "strong": "bold",
    "dim": "bright_black",
    "source": "",
    "text": "",
    "good": "bold green",
}


def render(report: Report, style: Style) -> str:
    """The frames and the summary, with ANSI colours where the style asks for them."""
    rows = to_report_rows(report, style)
    if not style.colour:
        return to_plain_text(rows)
    return _to_ansi(rows)


def to_report_rows(report: Report, style: Style) -> list[Row]:
    """The rows of the whole report, with a blank one after every finding."""
    rows: list[Row] = []
    for finding in report:
        rows.extend(to_rows(finding, report.sources, style))
        rows.append(())
    if style.summary:
        kind = "strong" if report.findings else "good"
        rows.extend(((line, kind),) for line in summary_lines(report))
    return rows


def to_text(report: Report, style: Style | None = None) -> Text:
    """The report as one rich Text, for `print(report)` of rich and for notebooks."""
    return _to_text(to_report_rows(report, style or Style()))


def _to_ansi(rows: list[Row]) -> str:
    """Piece by piece: a Console that lays out one long Text takes five times as long."""
    from rich.color import ColorSystem
    from rich.style import Style as RichStyle

    styles = {kind: RichStyle.parse(colour) for kind, colour in COLOURS.items()}
    standard = ColorSystem.STANDARD
    lines = ["".join(styles[kind].render(text, color_system=standard) for text, kind in row) for row in rows]
    return "".join(line + "\n" for line in lines)


def _to_text(rows: list[Row]) -> Text:
    from rich.text import Text

    text = Text(no_wrap=True)
    for row in rows:
        for piece, kind in row:
            text.append(piece, style=COLOURS[kind])
        text.append("\n")
    return text
