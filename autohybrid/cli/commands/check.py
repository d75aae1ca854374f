"""Check Gluon code for what hybridize() would trip over or silently change.

Nothing is imported or executed. Exit code 0: nothing found; 1: errors or warnings found; 2: misuse or failure.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from autohybrid.cli.emit import HUMAN_FORMATS, add_output_arguments, choose_format, emit
from autohybrid.cli.overlay import (
    add_file_arguments,
    add_selection_arguments,
    add_settings_arguments,
    make_tree,
)
from autohybrid.cli.parser import Parser
from autohybrid.cli.terminal import Progress, say
from autohybrid.config import BASELINE_NAME, Settings, SettingsError
from autohybrid.diagnostics.cache import FOLDER
from autohybrid.diagnostics.engine import Request
from autohybrid.diagnostics.engine import run as run_engine
from autohybrid.diagnostics.files import STDIN


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid check`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; `-` for stdin (default: .)")
    parser.add_argument("--stdin-filename", metavar="PATH", help="the name of the text on stdin")
    add_selection_arguments(parser)
    add_file_arguments(parser)
    add_output_arguments(parser)
    group = parser.add_argument_group("run")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 even when something is found")
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help=f"the folder of the cache (default {FOLDER})")
    group.add_argument("--baseline", metavar="FILE", help="leave out the findings in this file")
    group.add_argument(
        "--write-baseline", action="store_true", help=f"write the findings to the baseline file ({BASELINE_NAME})"
    )
    group.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    add_settings_arguments(parser)


def run(arguments: Any) -> int:
    """Check once, or with `--watch` again at every change."""
    if arguments.watch:
        from autohybrid.cli.watch import watch

        return watch(arguments, lambda: run_once(arguments))
    return run_once(arguments)


def run_once(arguments: Any) -> int:
    """One check: run, print, exit code."""
    tree = make_tree(arguments)
    settings = tree.get(os.getcwd())
    baseline = _baseline_path(arguments, settings)
    paths = _paths(arguments)
    request = Request(
        paths=paths,
        tree=tree,
        pedantic=arguments.pedantic,
        force_exclude=arguments.force_exclude,
        stdin=sys.stdin.buffer.read() if STDIN in arguments.paths else None,
        baseline="" if arguments.write_baseline else baseline,
        cache_dir=_cache_folder(arguments, settings),
    )
    started = time.perf_counter()
    is_human = choose_format(arguments, settings) in HUMAN_FORMATS
    with Progress("autohybrid: checking ...", wanted=is_human and not arguments.silent):
        report = run_engine(request)
    if arguments.verbose:
        say(f"checked {report.files} files in {time.perf_counter() - started:.2f} s")
    if not report.files:
        say(f"warning: no Python files in {', '.join(f'`{path}`' for path in paths)}")
    if arguments.write_baseline:
        from autohybrid.diagnostics.baseline import write_baseline

        write_baseline(baseline or BASELINE_NAME, report.findings, report.sources)
        say(f"wrote {len(report)} findings to {baseline or BASELINE_NAME}")
        return 0
    emit(report, arguments, settings)
    return int(report.has_failures and not arguments.exit_zero)


def _paths(arguments: Any) -> tuple[str, ...]:
    """The paths to check. Raises SettingsError when stdin is mixed with other paths."""
    if STDIN not in arguments.paths:
        return tuple(arguments.paths) or (".",)
    if len(arguments.paths) > 1:
        raise SettingsError("`-` (stdin) cannot be checked together with other paths")
    return (arguments.stdin_filename or "<stdin>",)


def _baseline_path(arguments: Any, settings: Settings) -> str:
    """The baseline file: the flag is relative to the current folder, the configuration's value to its own."""
    if arguments.baseline:
        return str(arguments.baseline)
    return os.path.join(settings.root, settings.baseline) if settings.baseline else ""


def _cache_folder(arguments: Any, settings: Settings) -> str | None:
    if arguments.no_cache:
        return None
    if arguments.cache_dir:
        return str(arguments.cache_dir)
    return os.path.join(settings.root or os.getcwd(), settings.cache_dir or FOLDER)
