"""Delete the caches of autohybrid below the current folder, or below the given ones."""

from __future__ import annotations

import argparse
import os
import shutil

from autohybrid.cli.parser import Parser
from autohybrid.cli.terminal import say
from autohybrid.config import SettingsError
from autohybrid.diagnostics.cache import FOLDER

_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "venv"))


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid clean`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders to look in (default: .)")


def run(arguments: argparse.Namespace) -> int:
    """Remove every `.autohybrid_cache` found. Raises SettingsError for a path that is no folder."""
    removed = 0
    for top in arguments.paths or ["."]:
        if not os.path.isdir(top):
            raise SettingsError(f"no such folder: `{top}`")
        for folder, subfolders, _ in os.walk(top):
            if FOLDER in subfolders:
                path = os.path.join(folder, FOLDER)
                try:
                    shutil.rmtree(path)
                except OSError as error:
                    raise SettingsError(f"cannot delete {path}: {error.strerror}") from None
                say(f"removed {os.path.normpath(path)}")
                removed += 1
            subfolders[:] = [name for name in subfolders if name not in _SKIPPED and name != FOLDER]
    if not removed:
        say("there is no cache to remove")
    return 0
