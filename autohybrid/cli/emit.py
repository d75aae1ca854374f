"""Where a report goes: stdout, a file, statistics, the step summary of a GitHub job. Also the flags that say so."""

from __future__ import annotations

import os
import sys
from typing import Any

from autohybrid.cli.overlay import format_type, get_format
from autohybrid.cli.parser import Parser, one_of
from autohybrid.cli.terminal import make_style, write_out
from autohybrid.config import Settings
from autohybrid.diagnostics.render import render
from autohybrid.diagnostics.render.style import Style
from autohybrid.diagnostics.report import Report
from autohybrid.diagnostics.write import write_text

HUMAN_FORMATS = ("full", "concise", "grouped")
#: The formats that show fixes, or count them.
_WITH_FIXES = (*HUMAN_FORMATS, "json", "json-lines", "sarif", "html")
_BY_SUFFIX = {".json": "json", ".jsonl": "json-lines", ".sarif": "sarif", ".xml": "junit", ".html": "html"}


def add_output_arguments(parser: Parser) -> None:
    """`--output-format` and its kin."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format",
        metavar="FORMAT",
        type=format_type,
        help="full, concise, grouped, json, json-lines, github, gitlab, junit, sarif, html; auto is full on a terminal "
        "and concise elsewhere (environment: AUTOHYBRID_OUTPUT_FORMAT)",
    )
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the findings there")
    group.add_argument("--statistics", action="store_true", help="show the number of findings of each rule instead")
    group.add_argument("--show-suppressed", action="store_true", help="include suppressed findings in json")
    group.add_argument("--color", default="auto", type=one_of("auto", "always", "never"), help="auto, always or never")
    group.add_argument("-q", "--quiet", action="store_true", help="findings only, no summary")
    group.add_argument("-s", "--silent", action="store_true", help="print nothing, only set the exit code")
    group.add_argument("-v", "--verbose", action="store_true", help="say on stderr what is done")


def choose_format(arguments: Any, settings: Settings) -> str:
    """The format asked for; `auto` goes by the suffix of the output file, or by whether stdout is a terminal."""
    name = get_format(arguments.output_format, settings)
    if name != "auto":
        return name
    if arguments.output_file:
        return _BY_SUFFIX.get(os.path.splitext(arguments.output_file)[1].lower(), "concise")
    return "full" if sys.stdout.isatty() else "concise"


def emit(report: Report, arguments: Any, settings: Settings) -> None:
    """Write the report where the flags say. Raises SettingsError when the output file cannot be written."""
    name = choose_format(arguments, settings)
    style = make_style(arguments.color, summary=not arguments.quiet, show_suppressed=arguments.show_suppressed)
    if arguments.output_file:
        style = Style(summary=style.summary, show_suppressed=style.show_suppressed)
    if name in _WITH_FIXES and report.findings:
        from autohybrid.transform.checking import with_tree_fixes

        report = with_tree_fixes(report)
    text = _to_text(name, report, style, statistics=arguments.statistics)
    if arguments.output_file:
        write_text(arguments.output_file, text)
    elif not arguments.silent:
        write_out(text, machine=name not in HUMAN_FORMATS)
    if name == "github":
        _append_step_summary(report)


def _to_text(name: str, report: Report, style: Style, *, statistics: bool) -> str:
    if statistics:
        from autohybrid.diagnostics.render.statistics import render_statistics

        return render_statistics(report, style, as_json=name in ("json", "json-lines"))
    return render(name, report, style)


def _append_step_summary(report: Report) -> None:
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        from autohybrid.diagnostics.render.github import to_step_summary

        with open(path, "a", encoding="utf-8") as stream:
            stream.write(to_step_summary(report))
