"""The guard around a command: turns every way out of it into an exit code and, where one is due, one line of text."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from autohybrid.config import SettingsError

DEBUG = "AUTOHYBRID_DEBUG"
MISUSE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


class Guard:
    """A context manager. `code` is the exit code: set by the body, or by the guard when the body raised.

    Misuse and internal errors give 2, Ctrl-C 130, a reader that went away 141 without a word. With `AUTOHYBRID_DEBUG=1`
    the traceback of an internal error is shown.
    """

    def __init__(self) -> None:
        self.code = 0

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        match error:
            case None:
                return True
            case SystemExit():
                self.code = error.code if isinstance(error.code, int) else (0 if error.code is None else MISUSE)
            case KeyboardInterrupt():
                self.code = INTERRUPTED
            case BrokenPipeError():
                _silence_stdout()
                self.code = BROKEN_PIPE
            case SettingsError():
                complain(str(error))
                self.code = MISUSE
            case _:
                self.code = MISUSE
                _report_crash(error)
        return True


def complain(message: str) -> None:
    """Say on stderr what is wrong."""
    sys.stderr.write(f"autohybrid: error: {message}\n")


def _silence_stdout() -> None:
    """Let the interpreter flush into nothing at its exit, instead of failing on the closed pipe again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _report_crash(error: BaseException) -> None:
    if os.environ.get(DEBUG):
        import traceback

        traceback.print_exception(error)
        return
    complain(f"internal error: {type(error).__name__}: {error}; set {DEBUG}=1 to see where")
