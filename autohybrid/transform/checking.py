"""Checking with every fix: the report of the analysis, completed by the fixes that need the syntax tree.

Above both layers, so that the terminal, the Python API and notebooks show the same fixes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from autohybrid.diagnostics import engine
from autohybrid.diagnostics.report import Report

_MOST_FIXES_SHOWN = 100


def check(*paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], pedantic: bool = False) -> Report:
    """Check files and folders as `autohybrid check` does, under the configuration files that apply to them.

    Takes paths, or lists of them; the current folder when there are none. Nothing is imported or executed, nothing is
    written. Returns the findings, with their fixes, as a sequence of `Diagnostic` that also shows itself in terminals
    and notebooks. Raises SettingsError for a path that does not exist or a faulty configuration file.
    """
    return with_tree_fixes(engine.check(*paths, pedantic=pedantic))


def with_tree_fixes(report: Report) -> Report:
    """The report with the fixes that need the syntax tree, which the analysis does not look for; in a long one they
    would take longer than the check."""
    if not report.findings:
        return report
    if len(report) > _MOST_FIXES_SHOWN:
        return replace(report, has_all_fixes=False)
    from autohybrid.transform.notebook_cells import CellTexts

    return replace(report, findings=tuple(CellTexts(report.sources).complete(report)))
