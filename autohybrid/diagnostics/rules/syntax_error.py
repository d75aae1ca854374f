"""AH000 syntax-error: the file is not Python.

What it finds: a file that Python cannot parse, and that was named or says something of Gluon. Every other file is
still checked.

Why a graph cannot express it: without a syntax tree there is nothing to read; no other rule runs on the file.

Example: `def hybrid_forward(self, F, x:`

Instead: repair the text at the marked place.

Fix safety: no fix is offered.

When to suppress: never in the text (there is none to read); exclude the file instead.

MXNet 1.9.1: importing the file raises SyntaxError.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.rule import Finding, Invalid, Rule, Valid


def check(event: Event) -> Finding | None:
    """Every syntax error is a finding."""
    return Finding(f"cannot parse this file: {event.text}", "repair the syntax; the rest of the file was not checked")


RULE = Rule(
    code="AH000",
    name="syntax-error",
    summary="the file is not Python",
    kinds=(EventKind.SYNTAX_ERROR,),
    check=check,
    valid=(Valid("x = 1\n"), Valid("")),
    invalid=(Invalid("def f(:\n    pass\n", (":",)), Invalid("x = (1,\n", ("(",))),
)
