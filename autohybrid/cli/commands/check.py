"""Check Gluon code for what hybridize() would trip over or silently change.

Nothing is imported or executed. Exit code 0: nothing found; 1: errors or warnings found; 2: misuse or failure.
"""

from __future__ import annotations

import gc
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
from autohybrid.cli.parser import Parser, jobs
from autohybrid.cli.terminal import Progress, say
from autohybrid.config import BASELINE_NAME, Settings, SettingsError
from autohybrid.diagnostics.cache import FOLDER
from autohybrid.diagnostics.engine import Request
from autohybrid.diagnostics.engine import run as run_engine
from autohybrid.diagnostics.files import STDIN
from autohybrid.diagnostics.report import Report


def add_arguments(parser: Parser) -> None:
    """The flags of `autohybrid check`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; `-` for stdin (default: .)")
    parser.add_argument("--stdin-filename", metavar="PATH", help="the name of the text on stdin")
    add_selection_arguments(parser)
    add_file_arguments(parser)
    add_output_arguments(parser)
    _add_fix_arguments(parser)
    group = parser.add_argument_group("run")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 even when something is found")
    group.add_argument("-j", "--jobs", metavar="N", type=jobs, help="number of processes, or auto (the default)")
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    group.add_argument("--cache-dir", metavar="DIR", help=f"the folder of the cache (default {FOLDER})")
    group.add_argument("--baseline", metavar="FILE", help="leave out the findings in this file")
    group.add_argument(
        "--write-baseline", action="store_true", help=f"write the findings to the baseline file ({BASELINE_NAME})"
    )
    group.add_argument("--watch", action="store_true", help="check again whenever a file changes")
    add_settings_arguments(parser)


def _add_fix_arguments(parser: Parser) -> None:
    group = parser.add_argument_group("fixing")
    group.add_argument("--fix", action="store_true", help="apply the safe fixes to the files")
    group.add_argument("--unsafe-fixes", action="store_true", help="also apply fixes that may change behaviour")
    group.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    group.add_argument("--fix-only", action="store_true", help="apply fixes and do not report what is left")
    group.add_argument("--show-fixes", action="store_true", help="list the fixes that were applied")
    group.add_argument(
        "--verify-fix", action="store_true", help="keep only fixes that examples prove equal; runs the examples' code"
    )
    group.add_argument(
        "--example",
        metavar="FILE:NAME",
        action="append",
        default=[],
        help="an example for --verify-fix besides each file's own `example()`: a function, or a class and the shapes "
        "of its inputs (net.py:Net=1x3x8x8,4:int32)",
    )
    group.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 when anything was fixed")


def run(arguments: Any) -> int:
    """Check once, or with `--watch` again at every change."""
    if arguments.watch:
        from autohybrid.cli.watch import watch

        return watch(arguments, lambda: run_once(arguments))
    # The process ends with the run: looking for garbage, during it or at exit, would take a tenth of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return run_once(arguments)
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def run_once(arguments: Any) -> int:
    """One check: run, fix where asked, print, exit code."""
    tree = make_tree(arguments)
    settings = tree.get(os.getcwd())
    baseline = _baseline_path(arguments, settings)
    request = Request(
        paths=_paths(arguments),
        tree=tree,
        pedantic=arguments.pedantic,
        force_exclude=arguments.force_exclude,
        stdin=sys.stdin.buffer.read() if STDIN in arguments.paths else None,
        baseline="" if arguments.write_baseline else baseline,
        cache_dir=_cache_folder(arguments, settings),
        jobs=settings.jobs if arguments.jobs is None else arguments.jobs,
    )
    started = time.perf_counter()
    if arguments.diff or arguments.fix_only or arguments.fix or arguments.verify_fix or settings.fix:
        from autohybrid.cli.fixing import check_and_fix

        outcome = check_and_fix(request, arguments, settings)
        if isinstance(outcome, int):
            return outcome
        report, was_fixed = outcome, outcome.fixed > 0
    else:
        is_human = choose_format(arguments, settings) in HUMAN_FORMATS
        with Progress("autohybrid: checking ...", wanted=is_human and not arguments.silent):
            report, was_fixed = run_engine(request), False
    if arguments.verbose:
        say(f"checked {report.files} files in {time.perf_counter() - started:.2f} s")
    if not report.files:
        say(f"warning: no Python files in {', '.join(f'`{path}`' for path in request.paths)}")
    if arguments.write_baseline:
        return _write_baseline(baseline or BASELINE_NAME, report)
    emit(report, arguments, settings)
    failed = report.has_failures or (was_fixed and arguments.exit_non_zero_on_fix)
    return int(failed and not arguments.exit_zero)


def _write_baseline(path: str, report: Report) -> int:
    from autohybrid.diagnostics.baseline import write_baseline

    write_baseline(path, report.findings, report.sources)
    say(f"wrote {len(report)} findings to {path}")
    return 0


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
