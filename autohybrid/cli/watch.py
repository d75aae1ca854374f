"""`--watch`: check again whenever a file below the checked paths changes. Polls; needs nothing installed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from autohybrid.cli.guard import complain
from autohybrid.cli.overlay import make_tree
from autohybrid.config import SettingsError
from autohybrid.diagnostics.files import discover

_INTERVAL = 0.5


def watch(arguments: Any, check: Callable[[], int]) -> int:
    """Run `check` at once and after every change, until interrupted. The lines around a run are what editors look for.

    A faulty configuration or a path that is gone is reported and waited out.
    """
    known: dict[str, tuple[int, int]] | None = None
    while True:
        state = _look(arguments)
        if state != known:
            known = state
            sys.stdout.write("autohybrid: checking\n")
            sys.stdout.flush()
            try:
                check()
            except SettingsError as error:
                complain(str(error))
            sys.stdout.write("autohybrid: done\n")
            sys.stdout.flush()
        time.sleep(_INTERVAL)


def _look(arguments: Any) -> dict[str, tuple[int, int]]:
    """Time and size of every file that a check would read, configuration files included."""
    paths = tuple(arguments.paths) or (".",)
    try:
        tree = make_tree(arguments)
        files = discover(paths, tree, arguments.force_exclude)
        state = {item.absolute: (item.mtime_ns, item.size) for item in files}
        source = tree.get(os.getcwd()).source
    except SettingsError:
        return {}
    if source and os.path.exists(source):
        status = os.stat(source)
        state[source] = (status.st_mtime_ns, status.st_size)
    return state
