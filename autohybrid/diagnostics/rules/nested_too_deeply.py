"""AH005 nested-too-deeply: the file is nested too deeply to analyse.

What it finds: a file whose expressions nest deeper than the analysis follows.

Why a graph cannot express it: it is not read at all, so nothing is said of it.

Example: an expression of thousands of operators

Instead: split the expression.

Fix safety: no fix is offered.

When to suppress: for generated files: exclude them instead.

MXNet 1.9.1: nothing: Python runs such files.
"""

from autohybrid.analysis.events import Event, EventKind
from autohybrid.diagnostics.model import Severity
from autohybrid.diagnostics.rule import Finding, Rule, Valid, forward


def check(event: Event) -> Finding | None:
    """A file that was given up."""
    return Finding("this file is nested too deeply to analyse", "split the deepest expressions, or exclude the file")


RULE = Rule(
    code="AH005",
    name="nested-too-deeply",
    summary="the file is nested too deeply to analyse",
    kinds=(EventKind.TOO_DEEP,),
    check=check,
    severity=Severity.WARNING,
    valid=(
        Valid("x = 1\n"),
        Valid(forward("return F.relu(x)")),
    ),
    invalid=(),
)
