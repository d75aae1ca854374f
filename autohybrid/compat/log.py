"""`mx.log`: loggers with short, coloured lines."""

from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]

_COLOURS = ((WARNING, "31"), (INFO, "32"), (NOTSET, "34"))


class _Lines(logging.Formatter):
    """`I0131 12:00:00 process path:function:line] message`, the part before the bracket in the colour of the level."""

    def __init__(self) -> None:
        super().__init__(datefmt="%m%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        colour = next(code for level, code in _COLOURS if record.levelno >= level)
        head = f"{record.levelname[:1]}{self.formatTime(record, self.datefmt)} {record.process} {record.pathname}"
        return f"\x1b[{colour}m{head}:{record.funcName}:{record.lineno}]\x1b[0m {record.message}"

    def usesTime(self) -> bool:
        return True


def get_logger(
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING
) -> logging.Logger:
    """The logger of this name; at the first call it gets a handler: a file (plain), or the screen."""
    logger = logging.getLogger(name)
    if name is not None and not getattr(logger, "_init_done", False):
        logger._init_done = True  # type: ignore[attr-defined]
        handler: logging.Handler
        if filename:
            handler = logging.FileHandler(filename, filemode or "a")
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Lines())
        logger.addHandler(handler)
        logger.setLevel(level)
    return logger


def getLogger(
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING
) -> logging.Logger:
    """`get_logger`, under its older name."""
    warnings.warn("getLogger is deprecated; use get_logger", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)
