"""AH002 unreadable-file: the file has no text that could be checked.

What it finds: a file that cannot be opened, holds binary data, is not in the encoding it claims (UTF-8 where it claims
none), or a notebook that is not JSON. Every other file is still checked.

Why a graph cannot express it: without text there is nothing to read; no other rule runs on the file.

Example: a Latin-1 file without a coding comment.

Instead: save the file as UTF-8, or name its encoding in its first line (`# -*- coding: latin-1 -*-`).

Fix safety: no fix is offered.

When to suppress: never in the text; exclude the file instead (`extend-exclude`).

MXNet 1.9.1: importing the file raises SyntaxError.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Rule

_REMEDY = {
    "encoding": "save it as UTF-8, or name its encoding in the first line: `# -*- coding: latin-1 -*-`",
    "binary": "exclude it with `extend-exclude` if it is not Python source",
    "access": "check that the file exists and may be read",
    "notebook": "save the notebook again, or exclude it with `extend-exclude`",
}


def check(event: Event) -> Finding | None:
    """Every unreadable file is a finding."""
    return Finding(f"this file {event.text}", _REMEDY.get(event.name, ""))


RULE = Rule(
    code="AH002",
    name="unreadable-file",
    summary="the file has no text that could be checked",
    kinds=(EventKind.UNREADABLE,),
    check=check,
)
