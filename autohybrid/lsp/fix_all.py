"""Every safe fix of one file at once, in rounds: one fix may clear the way for the next."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from lsprotocol import types

from autohybrid.diagnostics.model import Diagnostic
from autohybrid.lsp.positions import Lines
from autohybrid.lsp.project import Project
from autohybrid.transform.fixes import complete
from autohybrid.transform.fixing import apply_fixes, choose_fix

_ROUNDS = 20


def fix_all(project: Project, path: str, *, unsafe: bool = False, code: str = "") -> str:
    """The text of a file after its safe fixes (with `unsafe`, all), those of one code if one is given.

    The project is left as it was.
    """
    original = project.text(path)
    try:
        for _ in range(_ROUNDS):
            found = complete(_wanted(project, path, code), project.text)
            own = [finding for finding in found if _stays_inside(finding, path, unsafe)]
            fixed = apply_fixes(own, project.text, unsafe=unsafe).texts.get(path)
            if fixed is None:
                break
            project.update(path, fixed)
        return project.text(path)
    finally:
        project.update(path, original)


def _wanted(project: Project, path: str, code: str) -> list[Diagnostic]:
    return [finding for finding in project.check(path).shown if code in ("", finding.code)]


def _stays_inside(finding: Diagnostic, path: str, unsafe: bool) -> bool:
    """Whether the fix that would be applied changes nothing but this file."""
    fix = choose_fix(finding, unsafe=unsafe)
    return fix is not None and all(edit.span.path == path for edit in fix.edits)


def line_edits(before: str, after: str, encoding: str) -> list[types.TextEdit]:
    """The edits from one text to the other by whole lines, so that the cursor and folds of the rest stay."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = Lines(before)
    return list(_line_edits(old, new, lines, encoding))


def _line_edits(old: list[str], new: list[str], lines: Lines, encoding: str) -> Iterator[types.TextEdit]:
    offsets = [0]
    for line in old:
        offsets.append(offsets[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield types.TextEdit(
                types.Range(lines.position_at(offsets[start], encoding), lines.position_at(offsets[end], encoding)),
                "".join(new[new_start:new_end]),
            )
