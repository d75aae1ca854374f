"""The terminal: what it can show, how text gets out, and a word on stderr while a run takes long."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from autohybrid.diagnostics.render.style import Style

_NARROWEST = 30


def has_colour(choice: str) -> bool:
    """Whether stdout gets colours: `choice` if it is always or never, else NO_COLOR, FORCE_COLOR, TERM and the stream.

    NO_COLOR counts when it is not empty (no-color.org); FORCE_COLOR when it is neither empty nor 0.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def make_style(colour: str, *, summary: bool = True, show_suppressed: bool = False) -> Style:
    """What stdout can show: width from COLUMNS, else from the terminal, else 80; ASCII where the encoding needs it."""
    return Style(
        width=get_width(),
        colour=has_colour(colour),
        unicode=_can_show("╭─│┆├╰━…"),
        summary=summary,
        show_suppressed=show_suppressed,
    )


def get_width() -> int:
    """Columns of stdout: COLUMNS, else what the terminal says, else 80."""
    text = os.environ.get("COLUMNS", "")
    if text.isdigit() and int(text) > 0:
        return max(_NARROWEST, int(text))
    try:
        return max(_NARROWEST, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 80


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write_out(text: str, *, machine: bool = False) -> None:
    """Write to stdout: a machine's format in UTF-8 whatever the locale, people's text in the stream's encoding."""
    stream = sys.stdout
    encoding = "utf-8" if machine else stream.encoding or "utf-8"
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
        return
    stream.flush()
    buffer.write(text.encode(encoding, "backslashreplace"))
    buffer.flush()


def write_bytes(data: bytes) -> None:
    """Write to stdout as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(message: str) -> None:
    """A line for people on stderr."""
    sys.stderr.write(f"autohybrid: {message}\n")


class Progress:
    """Shows `text` on stderr when the body takes longer than half a second, and takes it away after.

    Only on a terminal, never under CI.
    """

    def __init__(self, text: str, *, wanted: bool = True) -> None:
        self._text = text
        self._wanted = wanted and sys.stderr.isatty() and not os.environ.get("CI")
        self._shown = False

    def __enter__(self) -> Progress:
        if self._wanted:
            import threading

            self._timer = threading.Timer(0.5, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def _show(self) -> None:
        self._shown = True
        sys.stderr.write(self._text)
        sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._wanted:
            self._timer.cancel()
            if self._shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
