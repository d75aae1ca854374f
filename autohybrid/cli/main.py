"""The entry of the command line. Answers `--version` before anything is imported; all else is in `dispatch`."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 clean, 1 findings, 2 misuse or failure, 130 interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments in (["--version"], ["-V"]):
        from autohybrid.version import __version__

        sys.stdout.write(f"autohybrid {__version__}\n")
        return 0
    from autohybrid.cli.dispatch import dispatch

    return dispatch(arguments)
