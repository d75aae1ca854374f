"""Run the language server, which an editor starts and talks to over stdin and stdout.

Needs pygls: pip install 'autohybrid[lsp]'. Settings of editors are in docs/editors.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec

from autohybrid.cli.parser import Parser
from autohybrid.config import SettingsError


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid lsp`; `--stdio` is what many editors pass, and the only way there is."""
    parser.add_argument("--stdio", action="store_true", help="talk over stdin and stdout (always so)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the editor ends it. Raises SettingsError when pygls is not installed."""
    if find_spec("pygls") is None:
        raise SettingsError("the language server needs pygls, which is not installed: pip install 'autohybrid[lsp]'")
    from autohybrid.lsp.server import make_server

    # The protocol has a stream of its own, which the server closes; whatever else is printed goes to stderr.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream, redirect_stdout(sys.stderr):
        make_server().start_io(stdout=stream)
    return 0
